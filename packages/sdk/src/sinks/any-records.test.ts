// Records of random types, and random bytes as their records, through each sink that has an encoder.
import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anyRecord, anyType } from '../../test/any-type.ts'
import { FAR_ENDS } from '../../test/far-ends.ts'
import { temporaryFolder } from '../../test/files-rig.ts'
import { FlowCollector } from '../../test/flow-collector.ts'
import { Random, SEED } from '../../test/random.ts'
import { BatchSource } from '../../test/sink-records.ts'
import type { DeliveryLimits } from '../delivery/config.ts'
import type { DeliverySink } from '../delivery/delivery.ts'
import { array, type Batch, chars, counter, defineType, element, timestamp, value } from '../index.ts'
import { droppedTotal } from '../internal/index.ts'
import { createFile } from './file/file.ts'
import { createNetflow } from './netflow/netflow.ts'
import { createStdout } from './stdout/stdout.ts'

const TYPES = 40
const RECORDS = 6
const NOW_MS = 1_800_000_000_000
const LIMITS: DeliveryLimits = { lingerMs: 0, batchRecordsMax: 50, retryLimitMs: 1000 }

const flowType = defineType('any_flow', 'A flow', {
  time: timestamp(),
  from: element('IPV4_SRC_ADDR'),
  to: element('IPV6_DST_ADDR', array(value('u8'), 16)),
  name: element('APPLICATION_NAME', chars(12)),
  bytes: element('IN_BYTES', counter('u64')),
})

const batches = anyBatches()

const SINKS: Readonly<Record<string, (t: TestContext) => DeliverySink | Promise<DeliverySink>>> = {
  ...Object.fromEntries(
    Object.entries(FAR_ENDS).map(([name, start]) => [name, async (t: TestContext) => (await start(t)).open(LIMITS)]),
  ),
  async netflow(t) {
    const collector = await FlowCollector.start(t)
    return createNetflow({ port: collector.port, protocol: 'ipfix', ...LIMITS })
  },
  file: (t) => createFile({ path: join(temporaryFolder(t), 'records.log'), ...LIMITS }),
  stdout(t) {
    const fd = openSync(join(temporaryFolder(t), 'output'), 'a')
    t.after(() => closeSync(fd))
    return createStdout({ layout: 'custom', ...LIMITS }, fd)
  },
}

for (const [name, open] of Object.entries(SINKS)) {
  test(`${name}: no record makes the encoder throw, whatever its type and its bytes`, async (t) => {
    const sink = await open(t)
    const { stats } = sink
    for (const batch of batches) sink.accept(batch)
    await sink.flush().catch(() => undefined)
    await sink.close()
    assert.equal(stats.in, stats.out + droppedTotal(stats))
    assert.equal(stats.dropped.get('encode_failed'), undefined, sink.causeOf?.('encode_failed'))
    assert.ok(stats.out > 0)
  })
}

/** A client of an agent can send any bytes as records of its types, so each batch comes with random bytes too. */
function anyBatches(): Batch[] {
  const random = new Random(SEED)
  const source = new BatchSource({ bufferBytes: 65_536 })
  const types = [flowType, ...Array.from({ length: TYPES }, () => anyType(random))]
  return types.flatMap((type) => {
    const records = Array.from({ length: RECORDS }, (_, index) => anyRecord(random, type, NOW_MS + index))
    const batch = source.batch(type, records)
    return [batch, { ...batch, bytes: batch.bytes.map(() => random.integer(0, 255)) }]
  })
}
