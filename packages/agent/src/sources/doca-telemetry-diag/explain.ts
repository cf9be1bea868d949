import { fine, type SourceExplain, type Step } from '../chains/chain.ts'
import type { ChainContext } from '../chains/chain-context.ts'
import { docaExplain } from '../doca/explain.ts'
import { taintOf } from '../doca/versions.ts'

/** The chain of all DOCA sources, with a step about the holder of the counters, because sampling takes the counters. */
export const diagExplain: SourceExplain = {
  ...docaExplain,
  deviceSteps(context, device) {
    const steps = docaExplain.deviceSteps(context, device)
    return [...steps.slice(0, -1), ownershipStep(context, device), ...steps.slice(-1)]
  },
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
