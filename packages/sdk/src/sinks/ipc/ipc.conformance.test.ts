import { IpcPeer } from '../../../test/ipc-peer.ts'
import { temporarySockets } from '../../../test/ipc-rig.ts'
import { newestOf } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createIpc } from './ipc.ts'

for (const attaches of [true, false]) {
  testSink(attaches ? 'ipc, shared memory' : 'ipc, inline', 'push', async (t, limits) => {
    const socketsDir = temporarySockets(t)
    const peer = new IpcPeer({ socketsDir, attaches })
    await peer.listen()
    t.after(() => peer.leave())
    const { timeoutMs, queueLimitBytes } = limits
    const sink = createIpc({
      socketsDir,
      ...(timeoutMs === undefined ? {} : { socketTimeoutMs: timeoutMs }),
      ...(queueLimitBytes === undefined ? {} : { spoolBytes: queueLimitBytes }),
    })
    return {
      sink,
      peer: (behaviour) => peer.behave(behaviour),
      read: (type, field) => newestOf(peer.pages, type, field),
    }
  })
}
