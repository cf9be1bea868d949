// A worker of the store that fails after every few pages: it dies before it wrote one or before it said so, or says
// half of it.
import { parentPort, workerData } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerStart } from '../server/store/protocol.ts'
import { StoreWorker } from '../server/store/worker/store-worker.ts'

const port = parentPort
if (port !== null) {
  let pages = 0
  let acknowledged = 0
  const send = (message: FromWorker) => {
    if (message.kind !== 'acked' || ++acknowledged !== 3) {
      port.postMessage(message)
      return
    }
    const { kind, sequence } = message
    const turn = sequence % 9
    if (turn < 3) process.exit(1)
    port.postMessage(turn < 6 ? { kind, sequence } : message)
  }
  const worker = new StoreWorker(workerData as WorkerStart, send)
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'page' && ++pages === 4) process.exit(1)
    worker.receive(message)
  })
  worker.start()
}
