"""All routes in one list: address, handler, method."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from coterie.web.configuration import routes as configuration
from coterie.web.data import routes as data
from coterie.web.goals import routes as goals
from coterie.web.hierarchies import editor_routes as editor
from coterie.web.hierarchies import routes as hierarchies
from coterie.web.projects import routes as projects
from coterie.web.results import routes as results
from coterie.web.roles import routes as roles
from coterie.web.run import routes as run

POST = ["POST"]

ROUTES: list[BaseRoute] = [
    Route("/", projects.home),
    Route("/alive", projects.alive),
    Route("/open", projects.open_by_path, methods=POST),
    Route("/upload", projects.upload, methods=POST),
    Route("/delete", projects.delete, methods=POST),
    Route("/p/{project}/delete", projects.delete, methods=POST),
    Route("/p/{project}/data", data.data),
    Route("/p/{project}/data", data.change, methods=POST),
    Route("/p/{project}/data/rows", data.rows),
    Route("/p/{project}/data/progress", data.progress),
    Route("/p/{project}/data/cancel", data.cancel, methods=POST),
    Route("/p/{project}/data/next", data.go_on, methods=POST),
    Route("/p/{project}/data/again", data.again, methods=POST),
    Route("/p/{project}/roles", roles.roles),
    Route("/p/{project}/roles", roles.change, methods=POST),
    Route("/p/{project}/roles/risk", roles.risk, methods=["GET", "POST"]),
    Route("/p/{project}/hierarchies", hierarchies.overview),
    Route("/p/{project}/hierarchies", hierarchies.accept, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}", hierarchies.one),
    Route("/p/{project}/hierarchies/{column:int}/rule", hierarchies.rule, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/order", hierarchies.ordered, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/import", hierarchies.from_file, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/values", hierarchies.from_values, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/to-tree", hierarchies.to_tree, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/remove", hierarchies.remove, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/download", hierarchies.download),
    Route("/p/{project}/hierarchies/{column:int}/edit", editor.edit, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/branch", editor.branch),
    Route("/p/{project}/hierarchies/{column:int}/table", editor.table, methods=POST),
    Route("/p/{project}/hierarchies/{column:int}/undo", editor.undo, methods=POST),
    Route("/p/{project}/goals", goals.goals),
    Route("/p/{project}/goals", goals.change, methods=POST),
    Route("/p/{project}/run", run.run),
    Route("/p/{project}/run", run.change, methods=POST),
    Route("/p/{project}/run/options", run.options),
    Route("/p/{project}/run/events", run.events),
    Route("/p/{project}/run/cancel", run.cancel, methods=POST),
    Route("/p/{project}/run/{run}/delete", run.delete, methods=POST),
    Route("/charts.css", results.charts_css),
    Route("/p/{project}/results", results.latest),
    Route("/p/{project}/results/{run}", results.one),
    Route("/p/{project}/results/{run}/late", results.late_part),
    Route("/p/{project}/results/{run}/late", results.late, methods=POST),
    Route("/p/{project}/results/{run}/rows", results.rows),
    Route("/p/{project}/results/{run}/row", results.row),
    Route("/p/{project}/results/{run}/row", results.explain, methods=POST),
    Route("/p/{project}/results/{run}/curve", results.curve_part),
    Route("/p/{project}/results/{run}/curve", results.curve, methods=POST),
    Route("/p/{project}/results/{run}/curve/stop", results.stop_curve, methods=POST),
    Route("/p/{project}/results/{run}/map", results.draw_map, methods=POST),
    Route("/p/{project}/results/{run}/download/{what}", results.download),
    Route("/p/{project}/results/{run}/report/{variant}", results.view_report),
    Route("/p/{project}/configuration", configuration.show),
    Route("/p/{project}/configuration", configuration.save, methods=POST),
    Route("/p/{project}/configuration/bring", configuration.bring, methods=POST),
    Route("/p/{project}/configuration/download", configuration.download),
]
