import type { ExplainWalk } from '@sonde/sdk/api'
import { broken, walk } from '../sources/chains/chain.ts'
import { UNOBTAINABLE } from '../sources/doca/unobtainable.ts'
import { ofDevice } from './explain-device.ts'
import { ofMetric } from './explain-metric.ts'
import { isOfTraceback, ofTraceback } from './explain-traceback.ts'
import { type ExplainOptions, isWhole } from './explanation.ts'
import { chainOf } from './source-chain.ts'
import { nameOf, type Subject, subjectsOf } from './subject.ts'
import { unknownName } from './unknown-name.ts'

/**
 * Walks the chain of a source, a device (by name, id or address), a metric, traceback, or a rule (by name, or
 * `rule:NAME` if a source, device or metric has the same name). `''` walks the chains of all sources. Chains with a
 * broken link come first.
 * @throws SondeError `EXP_UNKNOWN` if the name is unknown, with the nearest names.
 */
export async function explain(of: string, options: ExplainOptions): Promise<ExplainWalk[]> {
  if (isOfTraceback(of)) {
    const chains = await ofTraceback(of, options)
    if (chains.length > 0) return chains
  }
  const subjects = subjectsOf(options)
  const found =
    (await ofSources(of, subjects, options)) ??
    (await ofMetric(of, subjects, options)) ??
    (await ofDevice(of, subjects, options))
  const unobtainable = Object.hasOwn(UNOBTAINABLE, of) ? UNOBTAINABLE[of] : undefined
  if (found.length === 0 && unobtainable !== undefined) return [await ofUnobtainable(of, unobtainable)]
  const rules = found.length === 0 ? await ofTraceback(of, options) : []
  if (rules.length > 0) return rules
  if (found.length === 0) throw await unknownName(of, subjects, options)
  return found.sort((a, b) => Number(isWhole(a)) - Number(isWhole(b)))
}

/** A metric that no source can deliver. */
async function ofUnobtainable(of: string, { why, instead }: (typeof UNOBTAINABLE)[string]): Promise<ExplainWalk> {
  const look = async () => broken(of, why, `not possible; use ${instead.join(' or ')}`)
  return { of, source: '', device: '', links: await walk([{ name: 'value', look }]) }
}

async function ofSources(
  of: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<ExplainWalk[] | undefined> {
  const wanted = subjects.filter((subject) => {
    const { config, definition } = subject
    // A source that runs only on request is not missing if it is not configured.
    if (of === '') return config !== undefined || definition.isOnRequest !== true
    return nameOf(subject) === of || definition.name === of
  })
  if (wanted.length === 0) return undefined
  return Promise.all(
    wanted.map(async (subject) => {
      const devices = (await subject.definition.explain?.devices(options.ground)) ?? []
      return chainOf(of === '' ? nameOf(subject) : of, subject, devices, options)
    }),
  )
}
