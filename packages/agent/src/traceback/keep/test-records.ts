import { type Batch, createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'

/** When the first record is. Unit: nanoseconds since the Unix epoch. */
export const TIME_NS = 1_790_000_000_000_000_000n

/** A level, a row a sample. */
export const levelType = defineType('level', 'A level', {
  time: timestamp(),
  device: label('Device'),
  level: gauge('f64'),
})

/** A batch of so many records. */
export function levelBatch(count: number): Batch {
  const batches: Batch[] = []
  const source = createSource({ id: 'test', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  for (let level = 0; level < count; level++)
    source.report(levelType, { time: TIME_NS + 1000n * BigInt(level), device: 'd', level })
  source.flush()
  const [batch] = batches
  if (batch === undefined) throw new Error('nothing was emitted')
  return batch
}
