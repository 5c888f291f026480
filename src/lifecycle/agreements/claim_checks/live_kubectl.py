"""Claims about kubectl, put to what real kubectls sent, kept and showed when lines were
typed (`generators/programs/kubectl.py`, `credentials.py`).
"""

from __future__ import annotations

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers

REFUSED = "refused"


@live("client-validation-uses-cached-api-model")
def validates_by_cache(answers: ProgramAnswers) -> bool:
    """A misspelt field would be refused without any request: neither a POST nor a look
    at the server's schema.
    """
    misspelt = answers["kubectl/misspelt-field"]
    return bool(
        misspelt["exit"] and not misspelt["posted"] and not misspelt["schema asked for"]
    )


@live("client-validation-apply-equivalent-to-create")
def apply_like_create(answers: ProgramAnswers) -> Partly:
    """Both end in one create; apply looks first, and leaves a note."""
    commands = answers["kubectl/create-and-apply"]
    create, apply = commands["create"], commands["apply"]
    return Partly(
        create["requests"][-1] == apply["requests"][-1] == "create",
        create["requests"] == ["create"]
        and apply["requests"] == ["get", "create"]
        and apply["a note"]
        and not create["a note"],
    )


@live("generators-kind-inferred-from-args-or-manifest")
def kind_inferred(answers: ProgramAnswers) -> Partly:
    """Each line makes its own kind; a manifest that does not state one makes none."""
    kinds = answers["kubectl/kinds"]
    return Partly(
        kinds["run"] == ["pods"]
        and kinds["create deployment"] == ["deployments"]
        and kinds["create -f"] == ["configmaps"],
        kinds["without a kind"]["exit"] != 0 and kinds["without a kind"]["writes"] == 0,
    )


@live("generators-record-command")
def record_command(answers: ProgramAnswers) -> bool:
    """The line stands in the annotation."""
    recorded = answers["kubectl/record"]
    return bool(
        recorded["exit"] == 0
        and recorded["annotation"].startswith("kubectl run recorded ")
    )


@live("generators-dry-run-skips-send")
def dry_run(answers: ProgramAnswers) -> Partly:
    """One strategy writes nothing; the other one sends, and says so."""
    writes = answers["kubectl/dry-run"]
    return Partly(
        writes["client"] == [] and writes["none"] == [""],
        writes["server"] == ["dryRun=All"],
    )


@live("generators-maps-object-to-group-version")
def maps_to_version(answers: ProgramAnswers) -> Partly:
    """`run` asks what there is; `create deployment` knows."""
    lines = answers["kubectl/compiled-in"]
    return Partly(lines["run"]["asked"], not lines["create deployment"]["asked"])


@live("generators-generators-build-request-body")
def generators_build_body(answers: ProgramAnswers) -> Partly | None:
    """What the generator of `run` made is sent as JSON, whatever the client prefers;
    the Deployment, for which there is none, in the typed client's encoding. Where both
    are JSON the matter cannot be seen.
    """
    lines = answers["kubectl/compiled-in"]
    typed = lines["create deployment"]["encoding"]
    if typed == lines["run"]["encoding"]:
        return None
    return Partly(
        lines["run"]["encoding"] == "application/json",
        typed == "application/vnd.kubernetes.protobuf",
    )


@live("discovery-saved-in-kube-schema")
def saved_in_schema(answers: ProgramAnswers) -> bool:
    """A folder of that name would have to be there."""
    assert answers["kubectl/home"]["names there"], "something was kept"
    return bool(answers["kubectl/home"]["a schema folder"])


@live("discovery-versions-saved-under-home")
def versions_saved(answers: ProgramAnswers) -> bool:
    """One file for each group and version."""
    return bool(answers["kubectl/home"]["of apps/v1"] == ["serverresources.json"])


@live("discovery-cache-mirrors-current-server")
def cache_is_current(answers: ProgramAnswers) -> Partly:
    """A look-up that misses asks again and finds the new kind; the list from the cache
    does not have it.
    """
    age = answers["kubectl/cache-age"]
    return Partly(age["get"] and age["asked again"], not age["cached"])


@live("discovery-cache-folder-per-server")
def folder_per_server(answers: ProgramAnswers) -> bool:
    """Two names of one server, two folders."""
    return len(answers["kubectl/home"]["folders of discovery"]) == 2


@live("discovery-openapi-cached-in-discovery-folder")
def openapi_in_discovery_folder(answers: ProgramAnswers) -> bool:
    """Files of another sort would have to be there."""
    return not set(answers["kubectl/home"]["names there"]) <= {
        "servergroups.json",
        "serverresources.json",
    }


@live("kubeconfig-flag-has-first-priority")
def flag_first(answers: ProgramAnswers) -> bool:
    """Its token counts, and a missing file is an error, whatever else there is."""
    files = answers["kubeconfig/which-file"]
    return bool(
        files["flag, variable, home"] == "https://a flag default"
        and files["a flag that leads nowhere"] == REFUSED
    )


@live("kubeconfig-env-var-has-second-priority")
def variable_second(answers: ProgramAnswers) -> bool:
    """It wins over the home directory."""
    return bool(
        answers["kubeconfig/which-file"]["variable, home"]
        == "https://a variable default"
    )


@live("kubeconfig-home-directory-fallback")
def home_last(answers: ProgramAnswers) -> bool:
    """With neither, the file at home."""
    return bool(
        answers["kubeconfig/which-file"]["home"] == "https://a .kube/config default"
    )


@live("kubeconfig-first-file-found-in-home")
def first_file_at_home(answers: ProgramAnswers) -> bool:
    """Some other file at home would have to be taken, or the first of a list alone."""
    files = answers["kubeconfig/which-file"]
    return bool(
        files["~/.kubeconfig and ~/.kube/kubeconfig only"] != REFUSED
        or files["two halves in the variable"] == REFUSED
    )


@live("kubeconfig-context-selects-cluster-and-user")
def context_selects(answers: ProgramAnswers) -> bool:
    """Two contexts over the same entries: another server, user and namespace."""
    return bool(
        answers["kubeconfig/contexts"]
        == {"one": "https://a token-b shop", "two": "https://b token-a default"}
    )


@live("kubeconfig-flags-override-file-values")
def flags_override(answers: ProgramAnswers) -> Partly:
    """A token by flag beats the file's; a password by flag beside the file's token is
    no override but an error.
    """
    users = answers["credentials/arrive"]
    mixed = users["token, and a password by flag"]
    return Partly(
        users["token, and another by flag"]["authorization"] == "Bearer flag",
        mixed["exit"] != 0 and mixed.get("sent") is False,
    )


@live("client-auth-credentials-inside-http-request")
def inside_the_request(answers: ProgramAnswers) -> Partly:
    """Tokens and passwords are in it; a certificate is in the handshake; and without
    TLS nothing is sent at all.
    """
    users, plain = answers["credentials/arrive"], answers["credentials/without-tls"]
    return Partly(
        users["token"]["authorization"] == "Bearer t"
        and users["password"]["authorization"].startswith("Basic "),
        users["certificate"]["authorization"] == ""
        and users["certificate"]["certificate of"] == "jane"
        and plain["requests"] > 0
        and plain["with a credential"] == 0,
    )


@live("client-auth-x509-through-tls-config")
def through_tls(answers: ProgramAnswers) -> bool:
    """The other end's TLS layer hands over the subject."""
    return bool(
        answers["credentials/arrive"]["certificate"]["certificate of"] == "jane"
    )


@live("client-auth-bearer-token-in-authorization-header")
def bearer_header(answers: ProgramAnswers) -> bool:
    """`Authorization: Bearer …`."""
    return bool(answers["credentials/arrive"]["token"]["authorization"] == "Bearer t")


@live("client-auth-openid-login-is-manual")
def login_is_manual(answers: ProgramAnswers) -> Partly:
    """Nobody logs in for a user whose token has ended; a plugin does it all."""
    return Partly(
        not answers["credentials/openid"]["an ended one is sent"],
        answers["credentials/arrive"]["a plugin"].get("authorization")
        == "Bearer by-plugin",
    )


@live("client-auth-openid-token-sent-as-bearer")
def openid_is_bearer(answers: ProgramAnswers) -> bool:
    """As a header like any other."""
    return bool(answers["credentials/openid"]["a good token, as bearer"])


@live("client-auth-root-ca-sent-to-server")
def root_ca_sent(answers: ProgramAnswers) -> bool:
    """It would be among what arrives."""
    users = answers["credentials/arrive"]
    return any(user.get("CA in it") for user in users.values())
