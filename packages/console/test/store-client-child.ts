// A process that gives a store the numbered pages of a client until it is killed: `node store-client-child.ts PATH`. It
// sends everything again from behind the last page that the store says it has, a few pages twice, and prints the
// sequence up to which it was told that all is safe.
import { createSource } from '@sonde/sdk'
import { createStore } from '../server/store/store.ts'
import { countedType } from './counted-records.ts'

const CLIENT = 0xfeed_0000_0000_0001n
const RECORDS_OF_PAGE = 10
const SENT_AGAIN = 3n

const [, , path = ''] = process.argv

const store = await createStore({ path, flushIntervalMs: 10 })
let sequence = 0n
const source = createSource({
  id: 'client',
  intervalMs: 0,
  emit: (batch) => store.accept({ ...batch, page: { client: CLIENT, sequence } }),
})
const last = await store.lastPage?.(CLIENT)
console.log(`open ${last}`)
// Of hours ago, so that there is something to compact at any moment.
const startMs = Date.now() - 5 * 3_600_000
const from = (last ?? 0n) + 1n - SENT_AGAIN
for (sequence = from < 1n ? 1n : from; ; sequence++) {
  for (let i = 0; i < RECORDS_OF_PAGE; i++) {
    const number = Number(sequence - 1n) * RECORDS_OF_PAGE + i
    source.report(countedType, { time: BigInt(startMs + number) * 1_000_000n, writer: 'child', number })
  }
  source.flush()
  if (sequence % 3n !== 0n) continue
  await store.flush()
  console.log(`acked ${sequence}`)
  if (sequence % 60n === 0n) void store.maintain()
}
