// A worker of the store that dies after every few pages: half of the times before it wrote one, half of the times before it said so.
import { parentPort, workerData } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerStart } from '../server/store/protocol.ts'
import { StoreWorker } from '../server/store/worker/store-worker.ts'

const port = parentPort
if (port !== null) {
  let pages = 0
  let acknowledged = 0
  const send = (message: FromWorker) => {
    if (message.kind === 'acked' && ++acknowledged === 3 && process.hrtime.bigint() % 2n === 0n) process.exit(1)
    port.postMessage(message)
  }
  const worker = new StoreWorker(workerData as WorkerStart, send)
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'page' && ++pages === 4) process.exit(1)
    worker.receive(message)
  })
  worker.start()
}
