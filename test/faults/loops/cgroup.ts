import { Cgroup } from '../../cgroup.ts'
import { startSonde } from '../../sonde-process.ts'
import type { FaultLoop, FaultRun } from '../loop.ts'
import { LIMITS, runCollector } from './collector.ts'

/** A collector with everything on, in as little as the recipe gives it. */
export const cgroup: FaultLoop = {
  name: 'cgroup',
  what: 'a second a round of an agent with every source on, in half a core and 512 MiB: it is not killed, answers, and counts each sample that it leaves out',
  testRounds: 3,
  async open(): Promise<FaultRun> {
    const group = Cgroup.make(LIMITS)
    if (group === undefined) return notHere()
    return runCollector(async (config) => {
      const args = ['agent', '--config', config, '--simulate']
      const sonde = await startSonde(args, { restarts: true, under: group.under })
      return {
        ...sonde,
        group,
        hasEnded: () => sonde.child.exitCode !== null,
        async remove() {
          group.remove()
        },
      }
    })
  },
}

/** Where no group may be made there is nothing to see, which a run for its own sake must not hide. */
function notHere(): FaultRun {
  const reason = 'no control group may be made here: run as root, with the controllers cpu and memory'
  return {
    round: async () => undefined,
    gate() {
      throw new Error(reason)
    },
    close: async () => reason,
  }
}
