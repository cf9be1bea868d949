// A whole `sonde up` in one process, its store filled with the series that the page is measured with, which then go on
// live.
import { createStore } from '@sonde/console'
import { type Batch, createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'
import { listen, makeAgent } from './listen.ts'

const [path = '', seriesText = '100', pointsText = '5760'] = process.argv.slice(2)
const [seriesCount, pointCount] = [Number(seriesText), Number(pointsText)]
const STEP_MS = 1_000
/** Points for each flush of the store. */
const FLUSH_EVERY_POINTS = 500

const type = defineType('bench', 'What the page is measured with', {
  time: timestamp(),
  device: label('One of many'),
  power_watts: gauge('f64', { unit: 'watts', help: 'A value that wanders' }),
})

const store = await createStore({ path })
let take = (batch: Batch): void => store.accept(batch)
const source = createSource({ id: 'bench', intervalMs: STEP_MS, emit: (batch) => take(batch) })
const values = Float64Array.from({ length: seriesCount }, (_, at) => 300 + at * 3)

function reportAt(timeMs: number): void {
  const time = BigInt(timeMs) * 1_000_000n
  for (let at = 0; at < seriesCount; at++) {
    // A walk that is the same in every run, and unlike in every series.
    values[at] = Math.max(
      40,
      values[at]! + 9 * Math.sin(timeMs / 1_000 + at * 37.7) * Math.sin((timeMs / 61_000) * (1 + at / 50)),
    )
    source.report(type, { time, device: `device${at}`, power_watts: values[at]! })
  }
  source.flush()
}

const nowMs = Math.floor(Date.now() / STEP_MS) * STEP_MS
for (let point = pointCount; point >= 0; point--) {
  reportAt(nowMs - point * STEP_MS)
  if (point % FLUSH_EVERY_POINTS === 0) await store.flush()
}

const agent = makeAgent(store)
take = (batch) => agent.router.accept(batch)
reportAt(Date.now())
const timer = setInterval(() => reportAt(Date.now()), STEP_MS)
await listen(agent, () => clearInterval(timer))
