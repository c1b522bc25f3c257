"""Error answers as problem documents that hold nothing a person wrote. Source: WIRE-1, SEC-2."""

from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from clankie_captain import errors
from clankie_settings.wire.lease import ACTION_SUPERSEDED
from clankie_settings.wire.problem import PROBLEM_TYPE, Problem, refused_field
from clankie_settings.wire.version import WIRE_HEADER, WIRE_VERSION

_log = structlog.get_logger()

_CODES: dict[type[errors.CaptainError], tuple[int, str]] = {
    errors.DeliveryConflictError: (409, "delivery_conflict"),
    errors.UnknownDeliveryError: (404, "unknown_delivery"),
    errors.UnknownActionError: (404, "unknown_action"),
    errors.SupersededActionError: (409, ACTION_SUPERSEDED),
    errors.StartedError: (409, "started"),
    errors.LaneBusyError: (409, "lane_busy"),
    errors.DrainingError: (503, "draining"),
    # The first that fits counts.
    errors.StoreFullError: (507, "store_full"),
    errors.StoreError: (503, "store_failed"),
}


class ProblemError(Exception):
    """An answer that is an error: status, code, what is wrong and what to do, and the field concerned."""

    def __init__(self, status: int, code: str, detail: str, field: str | None = None) -> None:
        super().__init__(code)
        self.problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, code=code, field=field)


def invalid(code: str, error: ValidationError) -> ProblemError:
    """A 422 that names the first refused field."""
    field, reason = refused_field(error)
    return ProblemError(422, code, f"{field[:100]}: {reason}", field[:100])


def install(app: FastAPI) -> None:
    """Answer every error of ``app`` as a problem document."""
    app.add_exception_handler(ProblemError, _answer_problem)
    app.add_exception_handler(errors.CaptainError, _answer_captain)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_parameter)
    app.add_exception_handler(Exception, _answer_fault)


def _response(problem: Problem) -> Response:
    # Here as well as in the middleware, which the answer to a fault no longer passes.
    headers = {WIRE_HEADER: str(WIRE_VERSION)}
    if problem.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.INSUFFICIENT_STORAGE):
        headers["Retry-After"] = "2"
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(problem.model_dump_json(exclude_none=True), problem.status, headers, media_type=PROBLEM_TYPE)


def _answer_problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return _response(error.problem)


def _answer_captain(request: Request, error: Exception) -> Response:
    status, code = next((known for kind, known in _CODES.items() if isinstance(error, kind)), (500, ""))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return _answer_fault(request, error)
    return _response(ProblemError(status, code, str(error)).problem)


def _answer_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: "unknown_route", 405: "unknown_method"}
    code = codes.get(error.status_code, "refused")
    return _response(ProblemError(error.status_code, code, "docs/wire.md lists the routes and methods").problem)


def _answer_parameter(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # The framework's own answer would quote the value.
    field = str(error.errors()[0]["loc"][-1])[:100]
    return _response(ProblemError(422, "invalid_query", f"{field}: is not what docs/wire.md says", field).problem)


def _answer_fault(_request: Request, error: Exception) -> Response:
    _log.error("api.fault", cause=type(error).__name__)
    detail = "the captain could not do this; its log names the cause, and the same request may be sent again"
    return _response(ProblemError(500, "captain_internal_error", detail).problem)
