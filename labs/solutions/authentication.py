"""Answers to labs/authentication.ipynb, and words for mistakes."""

import base64

from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.exercises.lab import Mistake

your_codes = {
    "no credentials": 403,
    "unknown bearer token": 401,
    "basic auth": 403,
    "empty bearer": 403,
    "tampered signature": 401,
    "service account lists pods": 403,
}
your_recognised = {
    "mine": "cleaner",
    "other fields, my signature": 401,
    "no signature wanted": 401,
    "signed with a key of my own": 401,
}


class your_passwords:
    def __init__(self, passwords):
        self.passwords = passwords

    def authenticate_request(self, request):
        scheme, _, coded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        name, _, password = base64.b64decode(coded).decode().partition(":")
        if self.passwords.get(name) != password:
            raise AuthenticationError("invalid password")
        return Identity(UserInfo(name, ("system:authenticated",)))


class NothingIsWrong:
    def __init__(self, passwords):
        self.passwords = passwords

    def authenticate_request(self, request):
        scheme, _, coded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            raise AuthenticationError("no password")
        name, _, password = base64.b64decode(coded).decode().partition(":")
        if self.passwords.get(name) != password:
            raise AuthenticationError("invalid password")
        return Identity(UserInfo(name, ("system:authenticated",)))


class StillKind:
    def __init__(self, passwords):
        self.passwords = passwords

    def authenticate_request(self, request):
        scheme, _, coded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        name, _, password = base64.b64decode(coded).decode().partition(":")
        if self.passwords.get(name) != password:
            return None
        return Identity(UserInfo(name, ("system:authenticated",)))


your_cost = 3

MISTAKES = [
    Mistake(
        "codes",
        {"no credentials": 401},
        "A request without credentials comes from `system:anonymous`, who may not.",
    ),
    Mistake(
        "codes",
        {"basic auth": 401},
        "Nobody reads passwords any more, so nobody finds this one wrong.",
    ),
    Mistake(
        "codes",
        {"empty bearer": 401},
        "An empty token is no token.",
    ),
    Mistake(
        "recognised",
        {"no signature wanted": "owner"},
        "The server does not let a token choose how it is checked.",
    ),
    Mistake(
        "recognised",
        {"other fields, my signature": "owner"},
        "The signature is over what was changed.",
    ),
    Mistake(
        "recognised",
        {"signed with a key of my own": "owner"},
        "The signature fits, but to a key that the server does not know.",
    ),
    Mistake(
        "passwords",
        StillKind,
        "A wrong password still makes a stranger: raise where the password differs.",
        seen=lambda users: users["another one"] == "system:anonymous",
    ),
    Mistake(
        "passwords",
        NothingIsWrong,
        "Without a password nothing is wrong: the first `None` has to stay.",
        seen=lambda users: users["nothing"] == 401,
    ),
    Mistake(
        "cost",
        2,
        "There are two in exercise 1, and a third one which was only asked later.",
    ),
]
