import type { SourceExplain } from '../../explain/chain.ts'
import { interfaceDevices, interfaceSteps } from '../../explain/network-interface.ts'
import { fileStep, permissionStep } from '../../explain/steps.ts'

/** Chains behind the values of `netdev`: the table of all interfaces, then each interface. */
export const netdevExplain: SourceExplain = {
  steps: (ground) => {
    const table = `${ground.procfs}/net/dev`
    return [
      fileStep(ground, table, `mount -t proc proc ${ground.procfs}: every kernel with networking has this file`),
      fileStep(ground, `${ground.sysfs}/class/net`, `mount -t sysfs sysfs ${ground.sysfs}`),
      permissionStep(ground, table),
    ]
  },
  devices: interfaceDevices,
  deviceSteps: interfaceSteps,
}
