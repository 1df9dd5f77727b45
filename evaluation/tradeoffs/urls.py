"""Addresses of the pages of trade-offs, below tradeoffs/."""

from django.urls import path

from evaluation.tradeoffs.views import (
    files,
    page,
    recipe,
    reranking,
    responses,
    restricted_context,
    saved_views,
    scoring,
    takeaways,
)

app_name = "tradeoffs"
urlpatterns = [
    path("", page.tradeoffs, name="tradeoffs"),
    path("<slug:slug>/", page.tradeoff, name="tradeoff"),
    path("<slug:slug>/score/", scoring.score, name="score"),
    path("<slug:slug>/setups/<int:pk>/", responses.responses, name="responses"),
    path("<slug:slug>/views/", saved_views.save_view, name="save-view"),
    path("<slug:slug>/views/<int:pk>/delete/", saved_views.delete_view, name="delete-view"),
    path("<slug:slug>/figure.<slug:format_key>", files.figure, name="figure"),
    path("<slug:slug>/table.<slug:format_key>", files.table, name="table"),
    path("<slug:slug>/methods.txt", files.methods, name="methods"),
    path("<slug:slug>/takeaways/", takeaways.takeaways, name="takeaways"),
    path(
        "<slug:slug>/takeaways.<slug:format_key>",
        takeaways.download_takeaways,
        name="takeaways-file",
    ),
    path("<slug:slug>/comparable/", takeaways.comparable, name="comparable"),
    path(
        "<slug:slug>/comparable.<slug:format_key>",
        takeaways.download_comparable,
        name="comparable-file",
    ),
    path("<slug:slug>/restricted/", restricted_context.restricted, name="restricted"),
    path(
        "<slug:slug>/restricted/start/",
        restricted_context.start_restricted,
        name="start-restricted",
    ),
    path(
        "<slug:slug>/restricted.<slug:format_key>",
        restricted_context.download_restricted,
        name="restricted-file",
    ),
    path("<slug:slug>/reranking/", reranking.reranking, name="reranking"),
    path("<slug:slug>/reranking/store/", reranking.store_aggregate, name="store-aggregate"),
    path(
        "<slug:slug>/reranking.<slug:format_key>",
        reranking.download_reranking,
        name="reranking-file",
    ),
    path("<slug:slug>/recipe/", recipe.recipe, name="recipe"),
    path("<slug:slug>/recipe/start/", recipe.start_recipe, name="start-recipe"),
    path("<slug:slug>/recipe/<int:pk>/", recipe.recipe_progress, name="recipe-progress"),
    path("<slug:slug>/recipe/<int:pk>/score/", recipe.score_recipe, name="score-recipe"),
    path("<slug:slug>/recipe/<int:pk>/rerank/", recipe.rerank_recipe, name="rerank-recipe"),
    path(
        "<slug:slug>/recipe/<int:pk>/recipe.<slug:format_key>",
        recipe.download_recipe,
        name="recipe-file",
    ),
]
