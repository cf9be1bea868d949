import type { NicPlace, NodeClass } from '../classes/node-class.ts'
import type { AerRate, EffectSpan, GpuEffect, JobEffect, JobState, NicEffect } from '../effects.ts'

/** All effects that are active at a moment. */
export interface Combined {
  readonly job: CombinedJob
  readonly gpus: readonly CombinedGpu[]
  readonly nics: readonly CombinedNic[]
}

/** All effects on the job. */
export type CombinedJob = Required<JobEffect>
/** All effects on a GPU; a missing value means a healthy GPU. */
export type CombinedGpu = GpuEffect
/** All effects on a NIC. */
export type CombinedNic = NicEffect

const STATES: readonly JobState[] = ['running', 'checkpoint', 'stuck', 'idle']

type Rule = (a: number, b: number) => number
const add: Rule = (a, b) => a + b
const multiply: Rule = (a, b) => a * b

/** How two effects with the same key combine. Default: the later one wins. */
const RULES: Readonly<Record<string, Rule>> = {
  computeFactor: multiply,
  coolingFactor: multiply,
  biasFactor: multiply,
  cacheMissFactor: multiply,
  speedShare: Math.min,
  powerLimitWatts: Math.min,
  burstBytesPerS: Math.min,
  pcieGeneration: Math.min,
  pcieWidth: Math.min,
  rxPausedShare: Math.max,
  txPausedShare: Math.max,
  markedShare: Math.max,
  throttledShare: Math.max,
  bitErrorRate: Math.max,
  stalledShare: Math.max,
  recoveryAction: Math.max,
  timeSlices: Math.max,
  lossShare: Math.max,
  rxPowerDb: Math.min,
  inletCelsius: add,
  dataWaitS: add,
  exposedS: add,
  deviceToHostBytesPerS: add,
  storageBytesPerS: add,
  correctedErrorsPerMinute: add,
  stormWarningsPerS: add,
  stormErrorsPerS: add,
  discardsPerS: add,
  effectiveErrorsPerS: add,
  neighbourBytesPerS: add,
  rxOtherBytesPerS: add,
}

/** Combines all spans that cover `t`. */
export function combineAt(spans: readonly EffectSpan[], node: NodeClass, t: number): Combined {
  let job: CombinedJob = { state: 'running', dataWaitS: 0, exposedS: 0, deviceToHostBytesPerS: 0, storageBytesPerS: 0 }
  const gpus: GpuEffect[] = node.gpus.map(({ mig }) => (mig === undefined ? {} : { mig }))
  const nics: NicEffect[] = node.nics.map(() => ({}))
  for (const span of spans) {
    if (span.fromS > t || span.toS <= t) continue
    if (span.job !== undefined) job = mergeJob(job, span.job)
    gpus.forEach((effect, index) => {
      for (const added of effectsOn(span.gpus, index, true)) gpus[index] = merge(gpus[index] ?? effect, added)
    })
    nics.forEach((effect, index) => {
      const isRail = (node.nics[index] as NicPlace).role === 'training'
      for (const added of effectsOn(span.nics, index, isRail)) nics[index] = merge(nics[index] ?? effect, added)
    })
  }
  node.nics.forEach((nic, index) => {
    nics[index] = withinLine(nic, nics[index] ?? {})
  })
  const lines = node.nics.flatMap((nic, index) =>
    nic.role === 'storage' ? [OTHERS_MOST * lineOf(nic, nics[index])] : [],
  )
  job = { ...job, storageBytesPerS: Math.min(job.storageBytesPerS, ...lines) }
  const mustWait = gpus.some(({ state }) => state === 'lost') || nics.some(({ link }) => link === 'down')
  return { job: mustWait ? mergeJob(job, { state: 'stuck' }) : job, gpus, nics }
}

/** Largest share of the line for other traffic; a slower port has less capacity for it. */
const OTHERS_MOST = 0.6

function lineOf({ model }: NicPlace, { speedShare = 1 }: NicEffect = {}): number {
  return model.speedBytesPerS * speedShare
}

function withinLine(nic: NicPlace, effect: NicEffect): NicEffect {
  const most = OTHERS_MOST * lineOf(nic, effect)
  const { neighbourBytesPerS = 0, rxOtherBytesPerS = 0 } = effect
  return {
    ...effect,
    ...(neighbourBytesPerS > most ? { neighbourBytesPerS: most } : {}),
    ...(rxOtherBytesPerS > most ? { rxOtherBytesPerS: most } : {}),
  }
}

function* effectsOn<E>(
  given: Readonly<Partial<Record<number | 'all', E>>> | undefined,
  index: number,
  isOfAll: boolean,
) {
  const [all, own] = [given?.all, given?.[index]]
  if (all !== undefined && isOfAll) yield all
  if (own !== undefined) yield own
}

function mergeJob(job: CombinedJob, added: JobEffect): CombinedJob {
  const state = STATES.indexOf(added.state ?? 'running') > STATES.indexOf(job.state) ? added.state : job.state
  return { ...merge<JobEffect, CombinedJob>(job, added), state: state ?? job.state }
}

function merge<E extends object, M extends E>(given: M, added: E): M {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(given))
  for (const [key, value] of Object.entries(added)) {
    const known = merged[key]
    const rule = RULES[key]
    if (key === 'aer') merged.aer = [...((known as readonly AerRate[] | undefined) ?? []), ...value]
    else merged[key] = rule !== undefined && known !== undefined ? rule(known as number, value) : value
  }
  // A lost GPU stays lost, whatever other effects apply.
  if ((given as GpuEffect).state === 'lost') merged.state = 'lost'
  return merged as M
}
