import { SondeError } from '@sonde/sdk'
import { closest } from '@sonde/sdk/config'
import { podNames } from './explain-pod.ts'
import type { ExplainOptions } from './explanation.ts'
import { type SourceSubject, subjectName } from './subject.ts'

/** Most names that are suggested for an unknown name. */
const NEAREST_LIMIT = 3

/** The error for an unknown name, with the nearest names. */
export async function unknownName(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<SondeError> {
  const devices = await Promise.all(
    subjects.map(({ definition }) => definition.explain?.devices(options.context) ?? []),
  )
  const names = [
    ...subjects.map(subjectName),
    ...devices.flat().flatMap(({ name, aliases }) => [name, ...aliases]),
    ...((await options.facts?.devices()) ?? []).flatMap(({ id, name }) => [id, name]),
    ...(await podNames(of, subjects)),
    ...subjects.flatMap(({ definition }) => definition.types.flatMap(({ metrics }) => [...metrics.values()])),
  ]
  const rules = (await options.facts?.traceback?.(of.replace(/^rule:/, '')))?.nearest ?? []
  const nearest = [...rules, ...nearestNames(of, [...new Set(names)])]
  const offer =
    nearest.length === 0
      ? `${withoutAgent(options)}sources are ${subjects.map(subjectName).join(', ')}`
      : `nearest: ${nearest.join(', ')}`
  return new SondeError(
    'EXP_UNKNOWN',
    `no source, device, metric, pod or rule is called ${JSON.stringify(of.slice(0, 100))}; ${offer}`,
  )
}

/** Only the agent knows the names of simulated devices, exporters and rules. */
function withoutAgent({ facts, agentPlace }: ExplainOptions): string {
  return facts === undefined ? `${agentPlace} did not answer as an agent, and an agent may know it; ` : ''
}

/** Names that were perhaps meant: a typing error first, then names that contain the text. */
function nearestNames(of: string, names: readonly string[]): string[] {
  const slip = closest(of, names)
  const containing = of.length < 3 ? [] : names.filter((name) => name !== slip && name.includes(of))
  return [...(slip === undefined ? [] : [slip]), ...containing].slice(0, NEAREST_LIMIT)
}
