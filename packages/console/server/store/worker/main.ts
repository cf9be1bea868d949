import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { WorkerStart } from '../protocol.ts'
import { StoreWorker } from './store-worker.ts'

/** The thread of the store: all access to the file is here. */
const port = parentPort
if (port !== null) {
  const worker = new StoreWorker(
    workerData as WorkerStart,
    (message) => port.postMessage(message),
    () => receiveMessageOnPort(port)?.message,
  )
  port.on('message', (message) => worker.receive(message))
  worker.start()
}
