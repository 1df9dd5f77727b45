from playwright.sync_api import expect


def test_a_rater_signs_in_by_the_form_and_sees_the_first_page(page, rachel, live_server):
    rachel.set_password("for-this-test-only")
    rachel.save()

    page.goto("/")
    page.get_by_label("Username").fill("rachel")
    page.get_by_label("Password").fill("for-this-test-only")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("navigation", name="Main")).to_contain_text("My studies")
    expect(page.get_by_role("button", name="rachel")).to_be_visible()


def test_a_wrong_password_is_said_on_the_form(page, rachel):
    page.goto("/accounts/sign-in/")
    page.get_by_label("Username").fill("rachel")
    page.get_by_label("Password").fill("not hers")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_text("Wrong username or password")).to_be_visible()


def test_the_cookie_signs_somebody_in(page, rosa, sign_in):
    sign_in(rosa)

    page.goto("/accounts/change-password/")

    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a password")
