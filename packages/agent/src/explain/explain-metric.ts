import type { ExplainWalk } from '@sonde/sdk/api'
import type { ExplainedValue } from '../sources/chains/chain.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { DeviceFacts } from './agent-facts.ts'
import { hasName } from './agent-steps.ts'
import type { ExplainOptions } from './explanation.ts'
import { parseSelector, type Selector } from './selector.ts'
import { sourceChain } from './source-chain.ts'
import { SIMULATOR, type SourceSubject, subjectName } from './subject.ts'

/** Chains of the sources that report a metric; undefined if no source reports it. */
export async function metricChains(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[] | undefined> {
  const selector = parseSelector(of)
  if (selector === undefined) return undefined
  const isSimulated = selector.labels.simulated !== undefined
  const reporting = subjects.filter(
    ({ definition }) =>
      fieldOfMetric(selector.metric, definition) !== undefined && (!isSimulated || definition.name === SIMULATOR),
  )
  if (reporting.length === 0) return undefined
  const states = await Promise.all(reporting.map((subject) => options.facts?.source(subjectName(subject))))
  const running = reporting.filter(({ config }, index) => config !== undefined || states[index] !== undefined)
  const ofHardware = reporting.filter(({ definition }) => definition.name !== SIMULATOR)
  const wanted = [running, ofHardware, reporting].find((some) => some.length > 0) ?? []
  return Promise.all(
    wanted.map(async (subject) => {
      const listed = (await subject.definition.explain?.devices(options.context)) ?? []
      const place = fieldOfMetric(selector.metric, subject.definition)
      const key = keyIn(selector, place?.type, subject.definition)
      // Files of the host are not devices, and labels do not select among them.
      const devices = key[0] === undefined ? listed : listed.filter(({ name }) => hasName(name, key))
      const value = place === undefined ? undefined : { ...place, labels: selector.labels, selector }
      const device = devices.length > 0 ? undefined : key[0]
      return sourceChain(of, subject, devices, options, { device, left: await leftDevice(device, options), value })
    }),
  )
}

/** A device with that name that left while an agent ran. */
async function leftDevice(name: string | undefined, { facts }: ExplainOptions): Promise<DeviceFacts | undefined> {
  if (name === undefined) return undefined
  const known = await facts?.devices()
  return known?.find((each) => [each.name, each.address].includes(name) && !each.simulated && each.goneMs !== undefined)
}

/** The parts of the entity's key that a selector gives. */
function keyIn({ labels }: Selector, type: string | undefined, { types }: SourceDefinition): (string | undefined)[] {
  return types.find(({ name }) => name === type)?.entity?.key.map((label) => labels[label]) ?? []
}

/** The field of a metric. */
function fieldOfMetric(metric: string, { types }: SourceDefinition): Omit<ExplainedValue, 'labels'> | undefined {
  for (const { name: type, metrics } of types) {
    for (const [field, name] of metrics) if (name === metric) return { type, field }
  }
  return undefined
}
