import { WORK_PERCENT } from '../../sources/nvml/doubts.ts'
import { GPU } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, hintDeviceTitle } from './words.ts'

/** A mark rather than an alarm: the GPU works, but its activity is unknown. */
export const standingProfileRule: HintRule = {
  name: 'standing_profile',
  sees: 'Profiling counters of a GPU stay at 0 while utilisation and power show work: DCGM’s profiling has stopped, and its values are left out.',
  severity: 'notice',
  of: 'gpu',
  neededMs: 30_000,
  uses: [GPU.profilingDoubted, GPU.utilisation, GPU.power],
  shows: [GPU.utilisation, GPU.power],
  limits: [
    {
      what: 'utilisation while every profiling counter is 0',
      value: WORK_PERCENT,
      unit: '% or more',
      source: 'no kernel runs without an SM; reported as NVIDIA/dcgm-exporter#662 and NVIDIA/DCGM#303',
    },
  ],
  not: {},
  toldApart: [
    'an idle GPU: its counters are 0 because nothing runs',
    'a job without tensor cores: a counter at 0 means nothing while another moves',
    'NVLink without traffic: its 0 is only doubted if another reading shows traffic',
  ],
  find(inspection) {
    const doubted = inspection.last(GPU.profilingDoubted)
    // The doubt is reported with every sample that it applies to.
    if (!(doubted >= 1) || inspection.lastSeenMs(GPU.profilingDoubted) < inspection.lastSeenMs(GPU.utilisation))
      return undefined
    const measure = shareMeasure(inspection.last(GPU.utilisation) / 100, '>=', WORK_PERCENT / 100, '% of time')
    if (!isPassed(measure)) return undefined
    const drawn = amountWords(inspection.last(GPU.power), 'W')
    return {
      title: `Profiling of ${hintDeviceTitle(inspection.device)} has stopped`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} is in use ${value} of the time, ${limit}, and draws ${drawn}, while its ${amountWords(doubted)} profiling counters stay at 0: another profiler uses them or nv-hostengine hangs (NVIDIA/dcgm-exporter#662, NVIDIA/DCGM#303); end the profiler, or restart dcgm-exporter and nv-hostengine`,
    }
  },
}
