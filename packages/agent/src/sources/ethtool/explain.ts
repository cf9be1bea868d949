import type { SourceExplain } from '../../explain/chain.ts'
import { interfaceDevices, interfaceSteps } from '../../explain/network-interface.ts'
import { fileStep } from '../../explain/steps.ts'

/** Chains behind the values of `ethtool`. What the driver itself answers is known to the source's child process alone; the agent says how that fares. */
export const ethtoolExplain: SourceExplain = {
  steps: (ground) => [
    fileStep(
      ground,
      `${ground.sysfs}/class/net`,
      `mount -t sysfs sysfs ${ground.sysfs}: the kernel lists interfaces here`,
    ),
  ],
  devices: interfaceDevices,
  deviceSteps: interfaceSteps,
}
