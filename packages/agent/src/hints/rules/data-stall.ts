import { maxKnown, median } from '../numbers.ts'
import type { Rule } from '../rule.ts'
import type { Scope } from '../scope.ts'
import { GPU, HOST, NIC } from '../signals.ts'
import { percent } from '../words.ts'
import { workingGpus } from '../workload.ts'

const UTILISATION = 80
const UTILISATION_LEAST = 5
const OVER_MS = 3000
const SPREAD = 15
const PRESSURE_SHARE = 0.2
const BURST_SHARE = 0.9
const BURST_OVER_MS = 30_000
const RUNS_SHARE = 0.05

/** The job still makes steps: GPUs have computed in the last seconds. */
function isRunning(scope: Scope): boolean {
  return median(workingGpus(scope).map((look) => look.max(GPU.smActive, OVER_MS))) > RUNS_SHARE
}

function pressureOf(scope: Scope): number {
  const look = scope.of(scope.node)
  return maxKnown(look.rate(HOST.ioPressure), look.rate(HOST.cpuPressure))
}

/** Bursts as fast as ever: the network is not what is slow. */
function burstShare(scope: Scope): number {
  return median(scope.rails.map((look) => look.peak(NIC.sentBytes, BURST_OVER_MS) / look.peak(NIC.sentBytes, 120_000)))
}

/** GPUs that wait for their input. */
export const dataStall: Rule = {
  name: 'data_stall',
  sees: 'All GPUs are idle for part of each step, alike, while bursts on the rails are as fast as ever: input comes late.',
  severity: 'warning',
  of: 'node',
  neededMs: 10_000,
  uses: [GPU.utilisation, GPU.smActive, GPU.tensorActive, NIC.sentBytes, HOST.ioPressure, HOST.cpuPressure],
  shows: [GPU.utilisation, GPU.tensorActive, HOST.ioPressure, HOST.cpuPressure],
  limits: [
    { what: 'utilisation, mean of 3 s', value: UTILISATION, unit: '%', source: 'waiting for peers keeps it near 100' },
    {
      what: 'tasks that wait for disk or CPU',
      value: PRESSURE_SHARE * 100,
      unit: '% of time',
      source: 'pressure stall information; without it a wait cannot be told from a lull',
    },
  ],
  not: {
    'GPUs that differ: no common cause': ({ scope }) => {
      const means = workingGpus(scope).map((look) => look.mean(GPU.utilisation, OVER_MS))
      return Math.max(...means) - Math.min(...means) > SPREAD
    },
    'a slow rail: bursts are slower than before': ({ scope }) => burstShare(scope) < BURST_SHARE,
    'a job that ended: nothing was computed of late': ({ scope }) => !isRunning(scope),
    'requests that come and go: nothing in the host waits': ({ scope }) => !(pressureOf(scope) >= PRESSURE_SHARE),
  },
  toldApart: ['stragglers and losses: use stays near 100 %, because peers spin'],
  explainedBy: { checkpoint: 'node', gpu_lost: 'node', link_flap: 'node', stuck_collective: 'node' },
  lacksAlways: ['what the loader waits for'],
  find(_look, scope) {
    const job = workingGpus(scope)
    const used = median(job.map((look) => look.mean(GPU.utilisation, OVER_MS)))
    if (job.length === 0 || !(used < UTILISATION) || !(used > UTILISATION_LEAST)) return undefined
    const pressure = pressureOf(scope)
    return {
      device: scope.node,
      affected: job.map(({ device }) => device),
      title: 'All GPUs wait for data',
      sentence: `${job.length} GPUs are in use ${percent(used / 100)} of the time, limit ${percent(UTILISATION / 100)}, all alike; tasks of the host wait ${percent(pressure)} of the time`,
      value: used,
      limit: UTILISATION,
      unit: '%',
    }
  },
}
