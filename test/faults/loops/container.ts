import { chmodSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Cgroup } from '../../cgroup.ts'
import { startContained } from '../../container/container.ts'
import { openRuntime } from '../../container/runtime.ts'
import { sharedImage } from '../../container/shared-image.ts'
import type { FaultLoop, FaultRun } from '../loop.ts'
import { LIMITS, runCollector } from './collector.ts'

/** The same collector in its image, whose root is read-only, without rights, and limited by a container runtime. */
export const container: FaultLoop = {
  name: 'container',
  what: 'a second a round of the image with every source on, in half a core and 512 MiB: it is not killed, answers, and counts each sample that it leaves out',
  // The tests of the image are its short form.
  testRounds: 0,
  async open(): Promise<FaultRun> {
    const layout = await sharedImage()
    const runtime = await openRuntime(layout)
    if (runtime.confinement === 'files') throw new Error(`no container here: ${runtime.refusals.join('\n')}`)
    return runCollector(async (config, library) => {
      openToAll(dirname(config), library)
      const ends: (() => unknown)[] = []
      const test = { after: (end: () => unknown) => void ends.push(end) }
      const mounts = [dirname(config), library].map((folder) => ({ from: folder, to: folder }))
      const args = ['agent', '--config', config, '--simulate']
      const agent = await startContained(test, runtime, { args, mounts, ...LIMITS })
      let hasEnded = false
      agent.ended.then(() => {
        hasEnded = true
      })
      return {
        ...agent,
        group: Cgroup.ofProcess(await agent.pid()),
        hasEnded: () => hasEnded,
        async remove() {
          for (const end of ends) await end()
          await runtime.close()
        },
      }
    })
  },
}

/** Lets the user of the image read the configuration, and the double write its state. */
function openToAll(configFolder: string, library: string): void {
  chmodSync(configFolder, 0o755)
  chmodSync(library, 0o777)
  for (const name of readdirSync(library)) chmodSync(join(library, name), 0o777)
}
