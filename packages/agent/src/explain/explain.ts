import { broken, walk } from '../sources/chains/chain.ts'
import { UNOBTAINABLE } from '../sources/doca/unobtainable.ts'
import { ofDevice } from './explain-device.ts'
import { ofMetric } from './explain-metric.ts'
import { isOfTraceback, ofTraceback } from './explain-traceback.ts'
import { type ExplainOptions, type Explanation, isWhole } from './explanation.ts'
import { chainOf } from './source-chain.ts'
import { nameOf, type Subject, subjectsOf } from './subject.ts'
import { unknownName } from './unknown-name.ts'

/**
 * Walks the chain behind a source, a device (by name, id or address), a metric, traceback, or a rule of it (by its
 * name, or `rule:NAME` where something else has that too); with `''` that of every source.
 * Chains with a broken link come first.
 *
 * @throws SondeError `EXP_UNKNOWN` if nothing has that name, with the nearest ones.
 */
export async function explain(of: string, options: ExplainOptions): Promise<Explanation[]> {
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

/** A metric that nothing can give. */
async function ofUnobtainable(of: string, { why, instead }: (typeof UNOBTAINABLE)[string]): Promise<Explanation> {
  const look = async () => broken(of, why, `not possible; use ${instead.join(' or ')}`)
  return { of, source: '', device: '', links: await walk([{ name: 'value', look }]) }
}

async function ofSources(
  of: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[] | undefined> {
  const wanted = subjects.filter((subject) => {
    const { config, definition } = subject
    // What runs on request alone is not missing where nobody asked for it.
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
