// An application with a queue on disk: `queue-main.ts QUEUE_DIR TARGET FIRST`. TARGET is JSON: a
// destination with its options. The application reports numbers from FIRST on until it is killed. After each flush it
// prints the number below which everything is acknowledged.
import { createSchema, wallNs } from '@sonde/sdk'
import { CHECK, numberedType } from './numbered.ts'

const [, , queueDir = '', target = '{}', first = '0'] = process.argv
const limits = { queueDir, lingerMs: 5, backoffInitialMs: 10, backoffMaxMs: 100, batchRecordsMax: 500 }
const [[kind, options] = []] = Object.entries(JSON.parse(target) as Record<string, object>)
const schema = createSchema({
  name: 'queue_loop',
  export: { [kind ?? '']: { ...options, ...limits } },
})
schema.addType(numberedType)
await schema.start()
const source = schema.createSource({ tag: 'app' })
for (let number = BigInt(first); ; ) {
  for (let i = 0; i < 50; i++, number++) {
    const check = BigInt.asUintN(64, (number + 1n) * CHECK)
    source.report(numberedType, { time: wallNs(), worker: 'app', number_total: number, check })
  }
  await source.flush()
  process.stdout.write(`${number}\n`)
}
