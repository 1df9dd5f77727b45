"""Addresses of the studies' pages, below studies/."""

from django.urls import path

from annotation.views import (
    enquiries,
    gold,
    guidelines,
    lists,
    payments,
    preview,
    rating,
    settings,
    setup,
    skipped_and_flagged,
    study_link,
    study_raters,
    visits,
)

app_name = "annotation"
urlpatterns = [
    path("", lists.studies, name="studies"),
    path("mine/", lists.my_studies, name="my-studies"),
    # raters
    path("<slug:slug>/next/", rating.next_unit, name="next-unit"),
    path("<slug:slug>/units/<int:unit_id>/", rating.rate_unit, name="rate-unit"),
    path("<slug:slug>/units/<int:unit_id>/draft/", rating.save_draft, name="save-draft"),
    path("<slug:slug>/units/<int:unit_id>/skip/", rating.skip_unit, name="skip-unit"),
    path("<slug:slug>/units/<int:unit_id>/flag/", rating.flag_unit, name="flag-unit"),
    path("<slug:slug>/qualification/", visits.qualification, name="qualification"),
    path(
        "<slug:slug>/qualification/<int:place>/",
        visits.qualification_item,
        name="qualification-item",
    ),
    path("<slug:slug>/qualification/end/", visits.end_of_round, name="end-of-round"),
    path("<slug:slug>/end/", visits.end_of_visit, name="end-of-visit"),
    path("<slug:slug>/give-back/", visits.give_place_back, name="give-place-back"),
    path("<slug:slug>/units/<int:unit_id>/ask/", rating.ask_researchers, name="ask-researchers"),
    path("<slug:slug>/answers/", lists.my_answers, name="my-answers"),
    path("<slug:slug>/guidelines/changes/", rating.guideline_changes, name="guideline-changes"),
    # raters and researchers
    path("<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    # researchers
    path("new/", setup.new_study, name="new-study"),
    path("<slug:slug>/setup/", setup.study_setup, name="study-setup"),
    path("<slug:slug>/edit/", setup.edit_study, name="edit-study"),
    path("<slug:slug>/state/", setup.change_state, name="change-state"),
    path("<slug:slug>/archive/", lists.archive, name="archive-study"),
    path("<slug:slug>/settings/", settings.study_settings, name="study-settings"),
    path("<slug:slug>/extend/", settings.extend_study, name="extend-study"),
    path(
        "<slug:slug>/skipped/",
        skipped_and_flagged.skipped_and_flagged,
        name="skipped-and-flagged",
    ),
    path("<slug:slug>/raters/", setup.add_raters, name="add-raters"),
    path("<slug:slug>/raters/<int:rater_id>/release/", setup.release_units, name="release-units"),
    path(
        "<slug:slug>/raters/<int:rater_id>/take-out/",
        study_raters.take_out_rater,
        name="take-out-rater",
    ),
    path(
        "<slug:slug>/raters/<int:rater_id>/let-back/",
        study_raters.let_rater_back,
        name="let-rater-back",
    ),
    path(
        "<slug:slug>/raters/<int:rater_id>/exclude/",
        study_raters.exclude_rater,
        name="exclude-rater",
    ),
    path(
        "<slug:slug>/units/<int:unit_id>/ask/<int:rater_id>/",
        study_raters.ask_again,
        name="ask-again",
    ),
    path("<slug:slug>/slots/let-go/", study_raters.let_slots_go, name="let-slots-go"),
    path("<slug:slug>/slots/take-back/", study_raters.take_slots_back, name="take-slots-back"),
    path("<slug:slug>/link/", study_link.study_link, name="study-link"),
    path("<slug:slug>/platform/", study_link.study_platform, name="study-platform"),
    path(
        "<slug:slug>/link/qualification/",
        study_link.study_qualification,
        name="study-qualification",
    ),
    path("<slug:slug>/payments/", payments.study_payments, name="payments"),
    path("<slug:slug>/payments/approve/", payments.approve_submissions, name="approve-submissions"),
    path(
        "<slug:slug>/payments/<int:rater_id>/reject/",
        payments.reject_submission,
        name="reject-submission",
    ),
    path("<slug:slug>/payments/payments.csv", payments.payments_file, name="payments-file"),
    path("<slug:slug>/payments/approved.txt", payments.approved_file, name="approved-file"),
    path("<slug:slug>/link/share/", study_link.share_computer, name="share-computer"),
    path("<slug:slug>/link/stop/", study_link.stop_study_link, name="stop-study-link"),
    path("<slug:slug>/slots/refill/", study_raters.refill, name="refill"),
    path("<slug:slug>/questions/", enquiries.enquiries, name="enquiries"),
    path(
        "<slug:slug>/questions/<int:enquiry_id>/answer/",
        enquiries.answer_enquiry,
        name="answer-enquiry",
    ),
    path("<slug:slug>/gold/", gold.gold, name="gold"),
    path("<slug:slug>/preview/", preview.preview, name="preview"),
    path("<slug:slug>/preview/<int:number>/known/", preview.know_answers, name="know-answers"),
    path("<slug:slug>/guidelines/edit/", guidelines.edit_guidelines, name="edit-guidelines"),
    path(
        "<slug:slug>/guidelines/preview/",
        guidelines.preview_guidelines,
        name="preview-guidelines",
    ),
]
