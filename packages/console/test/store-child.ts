// A process that writes to a store until it is killed: `node store-child.ts PATH`. It prints the number of the last
// record that is acknowledged.
import { createSource } from '@sonde/sdk'
import { createStore } from '../server/store/store.ts'
import { countedType } from './counted-records.ts'

const [, , path = '', first = '0', compactEvery = '0'] = process.argv

const store = await createStore({ path, flushIntervalMs: 10 })
const source = createSource({ id: 'child', emit: (batch) => store.accept(batch) })
// Times are of hours ago, so that there is something to compact at any moment; some are of now, and stay in the head.
const startMs = Date.now() - 5 * 3_600_000
for (let number = Number(first); ; number++) {
  const timeMs = number % 10 === 9 ? Date.now() : startMs + number
  source.report(countedType, { time: BigInt(timeMs) * 1_000_000n, writer: 'child', number })
  if (number % 25 !== 24) continue
  source.flush()
  await store.flush()
  console.log(`acked ${number}`)
  if (Number(compactEvery) > 0 && number % Number(compactEvery) === Number(compactEvery) - 1) void store.maintain()
}
