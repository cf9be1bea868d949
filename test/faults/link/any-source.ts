import { createSource, type RecordType, type Source } from '@sonde/sdk'
import { sampled } from '../../../packages/agent/src/sources/sampled.ts'
import type { DeviceReport, SourceDefinition } from '../../../packages/agent/src/sources/source.ts'
import { template } from '../../../packages/agent/src/sources/template/template.ts'
import { anyRecord, anyType } from '../../../packages/sdk/test/any-type.ts'
import { Random } from '../../../packages/sdk/test/random.ts'

// A source of random records of random types. The seed decides both, so that agent and child make the same of it.

const HOUR_MS = 3_600_000
const RECORDS = 300
const LABELS = { rack: 'child' }

interface AnyOptions {
  readonly seed: number
  /** Time of the earliest record. Unit: milliseconds since the Unix epoch. */
  readonly startMs: number
}

/** The types of a seed. */
export function anyTypes(seed: number): RecordType[] {
  const random = new Random(seed)
  return Array.from({ length: random.integer(1, 4) }, () => anyType(random))
}

/** Reports random records of types, in turns of the event loop and batches as it comes. */
export async function reportAny(
  random: Random,
  source: DeviceReport & Pick<Source, 'emit' | 'flush'>,
  types: readonly RecordType[],
  startMs: number,
): Promise<void> {
  for (let i = 0; i < RECORDS; i++) {
    const type = random.pick(types)
    source.report(type, anyRecord(random, type, startMs + random.integer(0, HOUR_MS)))
    if (random.chance(0.05)) source.emit()
    if (random.chance(0.02)) await new Promise((resolve) => setImmediate(resolve))
  }
  await source.flush()
}

/** The source in a child process or a worker. It reports once an interval, the same each time. */
export function anySource(host: 'worker' | 'any', types: readonly RecordType[]): SourceDefinition {
  const library = { name: host, parallel: 1, open: () => ({}), close: () => undefined }
  return {
    ...template,
    ...{ name: `any_${host}`, summary: 'Reports anything', host, types, labels: LABELS, intervalMs: HOUR_MS },
    load: async () => ({
      ...(host !== 'worker' && { library }),
      create(options, context) {
        const { seed, startMs } = options as AnyOptions
        const sample = () => reportAny(new Random(seed), context.source, anyTypes(seed), startMs)
        const probe = () => ({ state: 'present' as const, found: 'anything' })
        return sampled({ probe, sample, close: () => undefined }, context)
      },
    }),
  }
}

/** What the source reports, as a source of this process with the same labels. */
export async function reportHere(options: AnyOptions, emit: Parameters<typeof createSource>[0]['emit']): Promise<void> {
  const source = createSource({ id: 'child', labels: LABELS, emit })
  await reportAny(new Random(options.seed), source, anyTypes(options.seed), options.startMs)
}

/** The registry that hosts import. Types are those of the agent. */
export const SOURCES: readonly SourceDefinition[] = [anySource('any', []), anySource('worker', [])]
