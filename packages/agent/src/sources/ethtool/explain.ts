import type { SourceExplain } from '../chains/chain.ts'
import { ReadRefusal } from '../chains/chain-context.ts'
import { interfaceDevices, interfaceSteps } from '../chains/network-interface.ts'
import { fileStep } from '../chains/steps.ts'

/**
 * Chains behind the values of `ethtool`, one for each interface with a device below. What the driver answers is known
 * to the source's child process alone: the agent says how that fares, and where none runs a trial does.
 */
export const ethtoolExplain: SourceExplain = {
  steps: (context) => {
    const folder = `${context.sysfs}/class/net`
    return [fileStep(context, folder, `mount -t sysfs sysfs ${context.sysfs}: the kernel lists interfaces here`)]
  },
  async devices(context) {
    const interfaces = await interfaceDevices(context)
    const below = interfaces.map(({ name }) => context.target(`${context.sysfs}/class/net/${name}/device/driver`))
    const drivers = await Promise.all(below)
    return interfaces.filter((_, index) => !(drivers[index] instanceof ReadRefusal))
  },
  deviceSteps: (context, device) => interfaceSteps(context, device),
}
