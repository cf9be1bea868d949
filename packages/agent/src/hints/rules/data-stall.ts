import { maxKnown, median } from '../inspection/numbers.ts'
import type { Scope } from '../inspection/scope.ts'
import { together } from '../inspection/together.ts'
import { isCollective, jobGpus, jobNics } from '../inspection/workload.ts'
import { GPU, HOST, NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { percent } from './words.ts'

const UTILISATION = 0.8
/** Waits take part of a step: between two waits, use is high for a moment. */
const CLEAR_UTILISATION = 0.95
const LINGER_MS = 20_000
const OVER_MS = 3000
const SPREAD = 15
const BURST_SHARE = 0.7
const BURST_OVER_MS = 30_000
const MEMORY_SHARE = 0.9
/** Fewest gaps in half a minute. A single gap may be any pause. */
const GAPS = 2

/** Share of GPU memory still in use. A job that ended has freed it. */
function memoryShare(scope: Scope): number {
  return median(
    jobGpus(scope).map((inspection) => inspection.last(GPU.memoryUsed) / inspection.max(GPU.memoryUsed, 60_000)),
  )
}

function pressureOf(scope: Scope): number {
  const inspection = scope.of(scope.node)
  return maxKnown(inspection.rate(HOST.ioPressure), inspection.rate(HOST.cpuPressure))
}

/** Speed of recent bursts relative to earlier bursts. If it is high, the network is not slow. */
function burstShare(scope: Scope): number {
  return median(
    jobNics(scope).map(
      (inspection) => inspection.peak(NIC.sentBytes, BURST_OVER_MS) / inspection.peak(NIC.sentBytes, 120_000),
    ),
  )
}

/** Use of each GPU of the job at the same moments. GPUs without samples at these moments are left out. */
function usesOf(scope: Scope): number[] {
  const { inspections } = together(jobGpus(scope), GPU.utilisation, OVER_MS)
  return inspections.map((inspection) => inspection.mean(GPU.utilisation, OVER_MS)).filter((use) => !Number.isNaN(use))
}

/** Use of the job's GPUs, from 0 to 1. */
function useOf(scope: Scope): number {
  return scope.once('use', () => median(usesOf(scope)) / 100)
}

/** GPUs that wait for their input. */
export const dataStallRule: HintRule = {
  name: 'data_stall',
  sees: 'All GPUs are idle for the same part of each step, while bursts on the rails are as fast as before: input comes late.',
  severity: 'warning',
  of: 'node',
  neededMs: 10_000,
  lingerMs: LINGER_MS,
  uses: [
    ...[GPU.utilisation, GPU.tensorActive, GPU.memoryUsed, NIC.sentBytes],
    ...[HOST.ioPressure, HOST.cpuPressure, HOST.diskBusy],
  ],
  shows: [GPU.utilisation, GPU.tensorActive, HOST.ioPressure, HOST.cpuPressure, HOST.diskBusy],
  limits: [
    {
      what: 'utilisation, mean of 3 s',
      value: UTILISATION * 100,
      unit: '%',
      source: 'waiting for peers keeps it near 100',
    },
    { what: 'gaps in 30 s', value: GAPS, unit: 'to confirm', source: 'a single gap may be any pause of the job' },
  ],
  not: {
    'GPUs that differ: no common cause': ({ scope }) => {
      const uses = usesOf(scope)
      return Math.max(...uses) - Math.min(...uses) > SPREAD
    },
    // While the hint is open, a rail may slow down too. Then only use decides when the stall ends.
    'a slow rail: bursts are slower than before': ({ scope }) =>
      !scope.isOpen('data_stall', scope.node) && burstShare(scope) < BURST_SHARE,
    'a job that ended: its memory is free': ({ scope }) => !(memoryShare(scope) >= MEMORY_SHARE),
    'varying requests: no training traffic is on the rails': ({ scope }) => !isCollective(scope),
  },
  toldApart: ['stragglers and losses: use stays near 100 %, because peers spin'],
  explainedBy: { checkpoint: 'node', gpu_lost: 'node', link_flap: 'node', stuck_collective: 'node' },
  goesOn: {
    while: `use stays below ${CLEAR_UTILISATION * 100} %: it is high for a moment between two waits`,
    holds: ({ scope }) => useOf(scope) < CLEAR_UTILISATION,
  },
  lacksAlways: ['the cause of the wait'],
  find({ scope }) {
    const job = jobGpus(scope)
    const measure = shareMeasure(useOf(scope), '<', UTILISATION, '% of time')
    if (!isPassed(measure)) return undefined
    const pressure = pressureOf(scope)
    const waits = Number.isNaN(pressure) ? '' : `; tasks of the host wait ${percent(pressure)} of the time`
    const busy = scope.of(scope.node).rate(HOST.diskBusy)
    const works = Number.isNaN(busy) ? '' : `; its busiest disk works ${percent(Math.min(1, busy))} of the time`
    return {
      device: scope.node,
      affected: job.map(({ device }) => device),
      title: 'All GPUs wait for data',
      measure,
      sentence: (value, limit) =>
        `${job.length} GPUs are in use ${value} of the time, ${limit}, all alike${waits}${works}`,
      isSure:
        median(job.map((inspection) => inspection.dips(GPU.utilisation, UTILISATION * 100, BURST_OVER_MS))) >= GAPS,
    }
  },
}
