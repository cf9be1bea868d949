// A worker of the store whose disk hangs: it stands still at a page or a question while the file `<path>.hang` is
// there.
import { existsSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { ToWorker, WorkerStart } from '../server/store/protocol.ts'
import { StoreWorker } from '../server/store/worker/store-worker.ts'

const LOOK_MS = 10

const port = parentPort
if (port !== null) {
  const start = workerData as WorkerStart
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  const worker = new StoreWorker(start, (message) => port.postMessage(message))
  port.on('message', (message: ToWorker) => {
    while (existsSync(`${start.settings.path}.hang`)) Atomics.wait(nothing, 0, 0, LOOK_MS)
    worker.receive(message)
  })
  worker.start()
}
