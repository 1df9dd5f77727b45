"""Scripts that put no blanks between words, so that white space tells nothing about their words."""

# A letter of such a script, for `regex` with its version 1. The long vowel mark of kana is one.
UNSPACED = (
    r"[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    r"&&[\p{L}\p{Nl}]]"
)
