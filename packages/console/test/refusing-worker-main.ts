import { parentPort } from 'node:worker_threads'
import type { FromWorker } from '../server/store/protocol.ts'

// Stands in for a worker that waited long for a file, and cannot have it: it says so when it is asked anything.
parentPort?.on('message', () => {
  const refused: FromWorker = { kind: 'refused', code: 'STO_LOCKED', message: 'another process has it' }
  parentPort?.postMessage(refused)
})
