"""The data files in `src` say what they are, and come out the same when made again."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import generators.__main__ as command
import pytest
from click.testing import CliRunner
from generators.go_source import PACKAGES, STAGING

from generators import cri, etcd, likeness, policy, protobuf, published, served_version, step_times, types
from lifecycle.api.published import KUBERNETES_VERSION
from lifecycle.cluster import like
from tests.conftest import RECORDINGS

SRC = Path(command.PACKAGE)
KIND = RECORDINGS / "kind-1.36.2"

TYPES_GO = """
package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

/* type Nothing struct { */

// +genclient

type Thing struct {
	metav1.TypeMeta `json:",inline"`
	// its name
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	/* not
	a field */
	Since *metav1.Time `json:"since,omitempty" protobuf:"bytes,3,opt,name=since"` // when
	Made metav1.Time `json:"made,omitempty,omitzero" protobuf:"bytes,4,opt,name=made"`
	Limits Limits `json:"limits" protobuf:"bytes,2,rep,name=limits"`
	Parts []Part `json:"parts,omitempty" protobuf:"bytes,5,rep,name=parts"`
	Part `json:",inline" protobuf:"bytes,6,opt,name=part"`
}

type Part struct{}

type Color string
type Limits map[Color]resource.Quantity

type Watcher interface {
	Watch() error
}
"""

GENERATED_PROTO = """
// message Nothing {}
message Part {
}

message Thing {
  optional string name = 1; // = 7

  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> limits = 2;

  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time since = 3;
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time made = 4;

  repeated Part parts = 5;

  optional Part part = 6;
}
"""

API_PROTO = """
syntax = "proto3";
service Runtime {
    // Go goes.
    rpc Go(GoRequest) returns (GoResponse) {}
    rpc Watch(GoRequest) returns (stream GoResponse) {}
}
message GoResponse {}
message GoRequest {
    enum Pace {
        SLOW = 0;
        FAST = 2;
    }
    string where = 3 [deprecated=true];
    Pace pace = 1;
    oneof way {
        bool up = 4;
    }
    map<string, string> notes = 5;
    repeated GoRequest stops = 6;
}
"""

RPC_PROTO = """
option (options.swagger) = {
  security: {
    key: "k";
  }
};
service KV {
  rpc Range(RangeRequest) returns (RangeResponse) {
      option (google.api.http) = {
        post: "/v3/kv/range"
    };
  }
  rpc Put(PutRequest) returns (PutResponse) {}
}
service Watch {
  rpc Watch(stream WatchRequest) returns (stream WatchResponse) {}
}
message RangeRequest {
  option (versionpb.etcd_version_msg) = "3.0";
  enum SortOrder {
    option (versionpb.etcd_version_enum) = "3.0";
    NONE = 0;
    ASCEND = 1;
  }
  bytes key = 1;
  SortOrder order = 5 [(versionpb.etcd_version_field)="3.1"];
}
message RangeResponse {
  repeated mvccpb.KeyValue kvs = 2;
}
message PutRequest {
  bytes key = 1;
}
message PutResponse {}
message WatchRequest {}
message WatchResponse {
  RangeResponse range = 1;
}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of a Kubernetes that knows one Thing."""
    for folder in PACKAGES.values():
        (tmp_path / STAGING / folder).mkdir(parents=True)
        (tmp_path / STAGING / folder / "generated.proto").write_text("")
    core = tmp_path / STAGING / PACKAGES["core/v1"]
    (core / "types.go").write_text(TYPES_GO)
    (core / "generated.proto").write_text(GENERATED_PROTO)
    (tmp_path / cri.SOURCE).parent.mkdir(parents=True)
    (tmp_path / cri.SOURCE).write_text(API_PROTO)
    for source, text in zip(etcd.SOURCES, (RPC_PROTO, "message KeyValue {\n  bytes key = 1;\n}\n"), strict=True):
        (tmp_path / source).parent.mkdir(parents=True)
        (tmp_path / source).write_text(text)
    return tmp_path


def rows(table: bytes) -> list[str]:
    """A table without the line that says what it is."""
    first, *rest = table.decode().splitlines()
    assert first.startswith("# ")
    assert "v9.9.9" in first
    return rest


def test_go_structs_become_blocks_in_declaration_order(checkout: Path) -> None:
    assert rows(types.generate(checkout, "v9.9.9")) == [
        "core/v1.Part",
        "core/v1.Thing",
        "\tTypeMeta\t-\ti\tmeta/v1.TypeMeta",
        "\tName\tname\t-\tstring",
        "\tSince\tsince\te\t*meta/v1.Time",
        "\tMade\tmade\tez\tmeta/v1.Time",
        "\tLimits\tlimits\t-\tLimits",
        "\tParts\tparts\te\t[]Part",
        "\tPart\t-\ti\tPart",
        "core/v1.Color string",
        "core/v1.Limits map[Color]resource.Quantity",
    ]


def test_messages_know_what_go_writes_and_what_json_leaves_out(checkout: Path) -> None:
    assert rows(protobuf.generate(checkout, "v9.9.9")) == [
        "message\tnumber\tjson\ttype\tlabel\twire\tomit",
        "core/v1.Part\t0\t\t\t\t\t",
        "core/v1.Thing\t1\tname\tstring\tone\talways\tkeep",
        "core/v1.Thing\t2\tlimits\tQuantity\tmap\tset\tkeep",
        "core/v1.Thing\t3\tsince\tTime\tone\tset\tomitempty",
        "core/v1.Thing\t4\tmade\tTime\tone\talways\tomitzero",
        "core/v1.Thing\t5\tparts\tcore/v1.Part\tlist\tset\tomitempty",
        "core/v1.Thing\t6\t*\tcore/v1.Part\tone\talways\tkeep",
    ]


def test_a_message_that_go_does_not_know_is_no_table(checkout: Path) -> None:
    proto = checkout / STAGING / PACKAGES["core/v1"] / "generated.proto"
    proto.write_text(GENERATED_PROTO.replace("= 3;", "= 13;"))
    with pytest.raises(ValueError, match=r"core/v1\.Thing: no Go field of number 13$"):
        protobuf.generate(checkout, "v9.9.9")


def test_of_etcds_calls_there_is_what_a_store_asks_and_is_answered_and_no_more(checkout: Path) -> None:
    tables = etcd.generate(checkout, "v9.9.9")
    assert rows(tables["fields.tsv"]) == [
        "message\tnumber\tname\ttype\tlabel",
        "KeyValue\t1\tkey\tbytes\tone",
        "RangeRequest\t1\tkey\tbytes\tone",
        "RangeRequest\t5\torder\tSortOrder\tone",
        "RangeResponse\t2\tkvs\tKeyValue\tlist",
        "WatchRequest\t0\t-\t-\tempty",
        "WatchResponse\t1\trange\tRangeResponse\tone",
    ]
    assert rows(tables["enums.tsv"]) == [
        "enum\tnumber\tname",
        "RangeRequest.SortOrder\t0\tNONE",
        "RangeRequest.SortOrder\t1\tASCEND",
    ]


def test_the_runtime_interface_becomes_three_tables(checkout: Path) -> None:
    tables = cri.generate(checkout, "v9.9.9")
    assert rows(tables["fields.tsv"]) == [
        "message\tnumber\tname\ttype\tlabel",
        "GoRequest\t1\tpace\tPace\tone",
        "GoRequest\t3\twhere\tstring\tone",
        "GoRequest\t4\tup\tbool\tone",
        "GoRequest\t5\tnotes\tstring\tmap",
        "GoRequest\t6\tstops\tGoRequest\tlist",
        "GoResponse\t0\t-\t-\tempty",
    ]
    assert rows(tables["enums.tsv"]) == [
        "enum\tnumber\tname",
        "GoRequest.Pace\t0\tSLOW",
        "GoRequest.Pace\t2\tFAST",
    ]
    assert rows(tables["methods.tsv"]) == [
        "service\tmethod\trequest\tresponse\tanswers",
        "Runtime\tGo\tGoRequest\tGoResponse\tone",
        "Runtime\tWatch\tGoRequest\tGoResponse\tstream",
    ]


def test_the_bootstrap_policy_is_what_the_recording_says() -> None:
    assert policy.generate(KIND) == (SRC / "apiserver/bootstrap/policy.json").read_bytes()


def test_the_published_documents_are_those_of_the_recording() -> None:
    there = SRC / f"api/published/{KUBERNETES_VERSION}.zip"
    with zipfile.ZipFile(there) as old, zipfile.ZipFile(io.BytesIO(published.generate(KIND, there))) as new:
        assert new.comment == old.comment
        assert new.namelist() == old.namelist()
        assert [name for name in new.namelist() if new.read(name) != old.read(name)] == []
        assert sum(name.startswith("discovery/") for name in new.namelist()) == 31


def test_a_recording_with_openapi_documents_brings_its_own(tmp_path: Path) -> None:
    (tmp_path / "http").symlink_to(KIND / "http")
    (tmp_path / "openapi").mkdir()
    (tmp_path / "openapi" / "apis_apps_v1.json").write_text("{}")
    packed = published.generate(tmp_path, tmp_path / "no-archive.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert [name for name in archive.namelist() if name.startswith("openapi/")] == ["openapi/apis/apps/v1.json"]
        assert archive.read("openapi/apis/apps/v1.json") == b"{}"


def test_what_an_older_kubernetes_served_is_what_the_recording_lists() -> None:
    table = (SRC / "apiserver/emulation/v1.20.2.tsv").read_bytes()
    assert served_version.generate(RECORDINGS / "bare-1.20.2") == table


def test_what_like_kind_plants_is_what_the_recording_lists() -> None:
    packed = (SRC / "cluster" / likeness.FILE).read_bytes()
    assert gzip.decompress(likeness.generate(KIND)) == gzip.decompress(packed)
    assert like.read(like.KIND) == like.read(KIND)
    assert len(packed) < 200_000


def test_every_data_file_says_first_what_it_is() -> None:
    silent = []
    for file in sorted(SRC.rglob("*")):
        if file.suffix in (".tsv", ".yaml"):
            ok = file.read_bytes().startswith(b"# ")
        elif file.suffix == ".json":
            ok = file.read_bytes().startswith((b'{"source":', b'{"provenance":'))
        elif file.suffix == ".gz":
            ok = gzip.decompress(file.read_bytes()).startswith(b'{"source":')
        elif file.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                ok = b"Made from recordings/" in archive.comment
        else:
            continue
        silent += [] if ok else [file.name]
    assert silent == []


def test_the_command_writes_checks_and_says_what_it_needs(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(command, "PACKAGE", tmp_path / "package")
    (tmp_path / "package" / "api" / "schema").mkdir(parents=True)

    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(command.main, words)
        return result.exit_code, result.output

    code, output = run("types")
    assert code == 2
    assert "--kubernetes PATH" in output
    sources = ("types", "--kubernetes", str(checkout))
    assert run(*sources, "--check") == (1, "differs   package/api/schema/types.tsv (379 bytes)\n")
    assert run(*sources) == (0, "written   package/api/schema/types.tsv (379 bytes)\n")
    assert run(*sources, "--check") == (0, "unchanged package/api/schema/types.tsv (379 bytes)\n")


def test_a_steps_times_are_those_between_what_a_watch_and_events_tell() -> None:
    times: step_times.Times = defaultdict(list)
    statuses: list[tuple[float, dict[str, Any]]] = [
        (1.0, {}),
        (1.5, {"conditions": [{"type": "PodReadyToStartContainers", "status": "True"}]}),
        (4.0, {"containerStatuses": [{"restartCount": 0, "state": {"terminated": {}}}]}),
    ]
    pod = {"kind": "Pod", "metadata": {"uid": "u"}, "spec": {"nodeName": "n"}}
    gone = {**pod, "metadata": {"uid": "u", "deletionTimestamp": "now"}}
    lines = [
        {"t": t, "event": {"type": "MODIFIED", "object": (pod if t < 3 else gone) | {"status": status}}}
        for t, status in statuses
    ]
    lines.insert(2, {"t": 3.0, "event": {"type": "MODIFIED", "object": gone}})
    lines.append({"t": 4.75, "event": {"type": "DELETED", "object": gone}})
    step_times._watched(lines, times)
    assert times == {"sandbox": [0.5], "stop": [1.0], "release": [0.75]}


def test_a_start_that_failed_is_no_start_and_a_failed_pull_is_a_pull() -> None:
    def event(nanos: int, reason: str, message: str = "") -> dict[str, Any]:
        return {"metadata": {"name": f"e.{nanos:016x}"}, "reason": reason, "message": message}

    second = 1_000_000_000
    started = [event(second, "Pulled"), event(2 * second, "Created"), event(4 * second, "Started")]
    times: step_times.Times = defaultdict(list)
    step_times._told(started, times, starts=True)
    assert times == {"create": [1.0], "start": [2.0]}
    failed = [event(second, "Pulling"), event(3 * second, "Failed")]
    step_times._told([*started, *failed], times, starts=True)
    assert times == {"create": [1.0], "start": [2.0], "pull": [2.0]}
    refused = event(5 * second, "Unhealthy", "dial tcp: connect: connection refused")
    answered = event(7 * second, "Unhealthy", "HTTP probe failed with statuscode: 404")
    step_times._told([*started, refused, answered], times, starts=False)
    assert (times["probe"], times["listen"]) == ([1.0], [2.0])
