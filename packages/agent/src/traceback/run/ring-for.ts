import { SondeError } from '@sonde/sdk'
import type { RuleBook, Test } from '../../rules/rule.ts'
import { DeviceRing } from '../feed/device-ring.ts'
import { BATCH_SAMPLES } from './traceback-run.ts'

/** Most memory of a ring. Unit: bytes. */
const RING_BYTES_MAX = 1024 * 1024 * 1024
const BYTES_PER_WORD = 4
const HEAD_WORDS = 8

/**
 * Makes a ring for the history before an event, the windows of the rules, and one batch.
 * @param samplePeriodNs Sample period of the device.
 * @throws SondeError `TRB_MEMORY` if it would need more than 1 GiB.
 */
export function ringFor(book: RuleBook, samplePeriodNs: number): DeviceRing {
  const tests = book.rules.flatMap((rule) => ('test' in rule ? [rule.test] : []))
  const reach = Math.max(1, ...tests.map((test) => testReach(test, samplePeriodNs)))
  const capacity = Math.max(2 * book.historySamples, reach) + BATCH_SAMPLES + 2
  const sizeBytes = capacity * (HEAD_WORDS + 2 * book.signals.length) * BYTES_PER_WORD
  if (sizeBytes > RING_BYTES_MAX)
    throw new SondeError(
      'TRB_MEMORY',
      `${capacity} samples of ${book.signals.length} values take ${sizeBytes} bytes; allowed: ${RING_BYTES_MAX}; ` +
        'shorten sample_history_depth or the windows of the rules',
    )
  return new DeviceRing(book.signals.length, capacity)
}

/** Samples before the current sample that a test reads. */
function testReach(test: Test, samplePeriodNs: number): number {
  if ('overNs' in test) return Math.ceil(test.overNs / samplePeriodNs) + 2
  return 'overSamples' in test ? test.overSamples : 1
}
