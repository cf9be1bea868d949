import { fine, type SourceExplain, type Step } from '../chains/chain.ts'
import type { ChainContext } from '../chains/chain-context.ts'
import { docaExplain } from '../doca/explain.ts'
import { taintOf } from '../doca/versions.ts'

/** The chain of all DOCA sources, with a step about the holder of the counters, because sampling takes the counters. */
export const diagExplain: SourceExplain = {
  ...docaExplain,
  deviceSteps(context, device) {
    const steps = docaExplain.deviceSteps(context, device)
    return [...steps.slice(0, -1), ownershipStep(context, device), COST, ...steps.slice(-1)]
  },
}

/** The device samples by itself, so processor time is that of draining. */
const COST: Step = {
  name: 'cost',
  check: async () =>
    fine(
      'high_frequency, counters, sample_period_us',
      'without high_frequency a reading takes about 2 ms in each interval; with it, doca_diag_sampling_drain_cpu_ratio is the share of a core. If that is too high, list fewer counters, raise sample_period_us, or raise interval_ms to 5000',
    ),
}

/** No file shows which program holds the counters. A source that is refused reports it. */
function ownershipStep(context: ChainContext, device: string): Step {
  return {
    name: 'ownership',
    async check() {
      const taken = `this source takes the counters of ${device} from other programs; it reports IN_USE if it may not`
      const advice = 'then stop the program that it names, or set force_ownership'
      return fine(
        `${context.procfs}/sys/kernel/tainted`,
        `${taken}, ${advice}. It runs only with accept_taint, because its first sample taints the kernel until the next boot; the taint now is ${await taintOf(context)}`,
      )
    },
  }
}
