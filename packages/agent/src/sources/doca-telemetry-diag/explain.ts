import { fine, type SourceExplain, type Step } from '../chains/chain.ts'
import type { ChainContext } from '../chains/chain-context.ts'
import { docaExplain } from '../doca/explain.ts'
import { taintOf } from '../doca/versions.ts'

/** The chain of all DOCA sources, and who holds the counters: to sample is to take them. */
export const diagExplain: SourceExplain = {
  ...docaExplain,
  deviceSteps(context, device) {
    const steps = docaExplain.deviceSteps(context, device)
    return [...steps.slice(0, -1), ownershipStep(context, device), ...steps.slice(-1)]
  },
}

/** Which program holds the counters no file tells: a source that was refused says so itself. */
function ownershipStep(context: ChainContext, device: string): Step {
  return {
    name: 'ownership',
    async check() {
      const taken = `this source takes the counters of ${device} from other programs; it says IN_USE where it may not`
      const advice = 'then stop the program that it names, or set force_ownership'
      return fine(
        `${context.procfs}/sys/kernel/tainted`,
        `${taken}, ${advice}. Its first sample taints the kernel, whose taint is ${await taintOf(context)}`,
      )
    },
  }
}
