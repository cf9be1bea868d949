import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Rig } from '../../test/delivery-rig.ts'
import { sondeError } from '../../test/helper.ts'
import { block } from '../config/kit.ts'
import { leavesOf } from '../config/leaves.ts'
import { DELIVERY_KEYS, type DeliveryLimits, type SeriesLimits } from './config.ts'

test('refuses limits out of range, naming key, value and what is allowed', () => {
  const wrongs: [DeliveryLimits & SeriesLimits, RegExp][] = [
    [{ queueLimitBytes: 1 }, /^queueLimitBytes is 1; allowed: a whole number from 65536 to 17179869184 \(bytes\)$/],
    [{ lingerMs: 0.5 }, /^lingerMs is 0.5; allowed: a whole number/],
    [{ concurrency: 0 }, /^concurrency is 0; allowed/],
    [{ timeoutMs: Number.NaN }, /^timeoutMs is NaN; allowed/],
    [{ attemptsMax: '3' as never }, /^attemptsMax is "3"; allowed/],
    [{ backoffJitter: 1.1 }, /^backoffJitter is 1.1; allowed: a number from 0 to 1/],
    [{ queuePolicy: 'drop' as never }, /^queuePolicy is "drop"; allowed: one of drop_oldest, drop_newest, block$/],
    [{ backoffInitialMs: 500, backoffMaxMs: 400 }, /^backoffMaxMs is 400; allowed: at least the first pause, 500$/],
    [{ queueLimitBytes: 65_536 }, /^batchBytesMax is 1048576; allowed: at most the limit of the queue, 65536$/],
    [{ concurrency: 2, shards: 3 }, /^concurrency is 2; allowed: 1 with 3 shards$/],
  ]
  for (const [limits, message] of wrongs) assert.throws(() => new Rig(limits), sondeError('DLV_OPTION', message))
})

test('docs/delivery.md has every limit with its unit, and every reason of a drop', () => {
  const page = readFileSync(new URL('../../../../docs/delivery.md', import.meta.url), 'utf8')
  const limits = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| [^|]*\d/gm)].map(([, key, unit]) => [key, unit])
  assert.deepEqual(
    limits,
    leavesOf(block(DELIVERY_KEYS), []).flatMap(({ path: [key], kind, allowed }) =>
      kind === 'number' ? [[key, /\((\w+)\)$/.exec(allowed)?.[1]]] : [],
    ),
  )
  const source = readFileSync(new URL('ledger.ts', import.meta.url), 'utf8')
  const type = source.slice(source.indexOf('type DropReason'), source.indexOf('const REPORT_MS'))
  const reasons = [...type.matchAll(/'(\w+)'/g)].map(([, reason]) => reason)
  assert.ok(reasons.includes('queue_full'))
  const table = page.slice(page.indexOf('| Reason |'), page.indexOf('**The reader'))
  assert.deepEqual(
    [...table.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason),
    reasons,
  )
})
