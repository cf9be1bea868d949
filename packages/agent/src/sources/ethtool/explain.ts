import type { SourceExplain } from '../chains/chain.ts'
import { Refusal } from '../chains/ground.ts'
import { interfaceDevices, interfaceSteps } from '../chains/network-interface.ts'
import { fileStep } from '../chains/steps.ts'

/**
 * Chains behind the values of `ethtool`, one for each interface with a device below. What the driver answers is known
 * to the source's child process alone: the agent says how that fares, and where none runs a trial does.
 */
export const ethtoolExplain: SourceExplain = {
  steps: (ground) => {
    const folder = `${ground.sysfs}/class/net`
    return [fileStep(ground, folder, `mount -t sysfs sysfs ${ground.sysfs}: the kernel lists interfaces here`)]
  },
  async devices(ground) {
    const interfaces = await interfaceDevices(ground)
    const below = interfaces.map(({ name }) => ground.target(`${ground.sysfs}/class/net/${name}/device/driver`))
    const drivers = await Promise.all(below)
    return interfaces.filter((_, index) => !(drivers[index] instanceof Refusal))
  },
  deviceSteps: (ground, device) => interfaceSteps(ground, device),
}
