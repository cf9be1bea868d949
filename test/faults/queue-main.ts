// An application with queues on disk: `queue-main.ts QUEUES_DIR EXPORT FIRST [END]`. EXPORT is JSON: destinations with
// their options. The application reports numbers from FIRST on, below END, until it is killed. After each flush it
// writes the number below which everything is acknowledged into the file `acknowledged` of QUEUES_DIR. A file keeps it
// through a kill; lines of standard output wait in the process while their reader is busy.
import { mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createSchema, wallNs } from '@sonde/sdk'
import { CHECK, numberedType } from './numbered.ts'

/** Each record of a flush is of another series. */
const RECORDS_OF_FLUSH = 50
/** Prometheus knows no shorter time between two samples. */
const PERIOD_MIN_NS = 1_000_000n

const [, , queuesDir = '', destinations = '{}', first = '0', end = 'Infinity'] = process.argv
const targets = Object.entries(JSON.parse(destinations) as Record<string, object>)
const schema = createSchema({
  name: 'queue_loop',
  export: Object.fromEntries(targets.map(([kind, options]) => [kind, { ...options, queueDir: join(queuesDir, kind) }])),
})
schema.addType(numberedType)
await schema.start()
mkdirSync(queuesDir, { recursive: true })
const acknowledged = openSync(join(queuesDir, 'acknowledged'), 'w')
const source = schema.createSource({ tag: 'app' })
let time = 0n
for (let number = BigInt(first); number < Number(end); ) {
  const now = wallNs()
  time = now > time + PERIOD_MIN_NS ? now : time + PERIOD_MIN_NS
  for (let i = 0; i < RECORDS_OF_FLUSH; i++, number++) {
    const check = BigInt.asUintN(64, (number + 1n) * CHECK)
    source.report(numberedType, { time, worker: `w${i}`, number_total: number, check })
  }
  await source.flush()
  writeSync(acknowledged, `${number}\n`, 0)
}
// Its destinations go on until it is killed.
process.stdin.resume()
