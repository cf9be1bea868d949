import type { ExplainWalk } from '@sonde/sdk/api'
import { broken, walk } from '../sources/chains/chain.ts'
import { UNOBTAINABLE } from '../sources/doca/unobtainable.ts'
import { deviceChains } from './explain-device.ts'
import { metricChains } from './explain-metric.ts'
import { podChains } from './explain-pod.ts'
import { isOfTraceback, tracebackChains } from './explain-traceback.ts'
import { type ExplainOptions, isUnbroken } from './explanation.ts'
import { sourceChain } from './source-chain.ts'
import { type SourceSubject, sourceSubjects, subjectName } from './subject.ts'
import { unknownName } from './unknown-name.ts'

/**
 * Walks the chain of a source, a device (by name, id or address), a metric, a pod (`NAMESPACE/POD`), traceback,
 * or a rule (by name, or `rule:NAME` if a source, device or metric has the same name). `''` walks the chains of all
 * sources. Chains with a broken link come first.
 * @throws SondeError `EXP_UNKNOWN` if the name is unknown, with the nearest names.
 */
export async function explain(of: string, options: ExplainOptions): Promise<ExplainWalk[]> {
  if (isOfTraceback(of)) {
    const chains = await tracebackChains(of, options)
    if (chains.length > 0) return chains
  }
  const subjects = sourceSubjects(options)
  const found =
    (await sourceChains(of, subjects, options)) ??
    (await metricChains(of, subjects, options)) ??
    (await namedChains(of, subjects, options))
  const unobtainable = Object.hasOwn(UNOBTAINABLE, of) ? UNOBTAINABLE[of] : undefined
  if (found.length === 0 && unobtainable !== undefined) return [await unobtainableChain(of, unobtainable)]
  const rules = found.length === 0 ? await tracebackChains(of, options) : []
  if (rules.length > 0) return rules
  if (found.length === 0) throw await unknownName(of, subjects, options)
  return found.sort((a, b) => Number(isUnbroken(a)) - Number(isUnbroken(b)))
}

/** The chains of a pod, or of a device. */
async function namedChains(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const pods = await podChains(of, subjects, options)
  return pods.length > 0 ? pods : deviceChains(of, subjects, options)
}

/** A metric that no source can deliver. */
async function unobtainableChain(of: string, { why, instead }: (typeof UNOBTAINABLE)[string]): Promise<ExplainWalk> {
  const check = async () => broken(of, why, `not possible; use ${instead.join(' or ')}`)
  return { of, source: '', device: '', links: await walk([{ name: 'value', check }]) }
}

async function sourceChains(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[] | undefined> {
  const wanted = subjects.filter((subject) => {
    const { config, definition } = subject
    // A source that runs only on request is not missing if it is not configured.
    if (of === '') return config !== undefined || definition.isOnRequest !== true
    return subjectName(subject) === of || definition.name === of
  })
  if (wanted.length === 0) return undefined
  return Promise.all(
    wanted.map(async (subject) => {
      const devices = (await subject.definition.explain?.devices(options.context)) ?? []
      return sourceChain(of === '' ? subjectName(subject) : of, subject, devices, options)
    }),
  )
}
