"""A server of today with the initializers of 1.7 to 1.13 put back.

Nothing in today's server is about them. They come in where upstream lets anybody in: as
an admission plugin that is registered and enabled by name, and as a stage of the
handler chain, in front of what serves the API. Both know the same configurations.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Handler, Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.etcd.store import Store
from lifecycle.historical.apiserver.initializer_visibility import InitializerVisibility
from lifecycle.historical.apiserver.initializers import Initializers


def create_server_with_initializers(store: Store) -> GenericAPIServer:
    """A server over a store, as `--feature-gates=Initializers=true
    --enable-admission-plugins=Initializers` once made it; `await start()` before use.
    """
    clock, names = Clock(), NameSource()
    configurations: dict[str, Object] = {}

    def build(serve: Handler, config: ChainConfig) -> Handler:
        visible = InitializerVisibility(serve, configurations, clock, names)
        return default_build_handler_chain(visible, config)

    return create_server_chain(
        store,
        clock=clock,
        names=names,
        admission=AdmissionOptions(
            enable=[Initializers.name],
            registered={
                Initializers.name: lambda ask: Initializers(ask, configurations)
            },
        ),
        build_handler_chain=build,
    )
