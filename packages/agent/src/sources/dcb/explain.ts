import { broken, fine, type SourceExplain, type Step } from '../chains/chain.ts'
import { ReadRefusal } from '../chains/chain-context.ts'
import { interfaceDevices, interfaceSteps } from '../chains/network-interface.ts'
import { fileStep } from '../chains/steps.ts'
import { findProgram } from '../find-program.ts'

const INSTALL = 'install iproute2; where it is elsewhere, give its path as the option dcb of the source dcb'

/** Chains behind the values of `dcb`: the program, then each interface with a device below. */
export const dcbExplain: SourceExplain = {
  steps: (context) => {
    const folder = `${context.sysfs}/class/net`
    return [programStep(), fileStep(context, folder, `mount -t sysfs sysfs ${context.sysfs}: it lists interfaces`)]
  },
  async devices(context) {
    const interfaces = await interfaceDevices(context)
    const drivers = await Promise.all(
      interfaces.map(({ name }) => context.target(`${context.sysfs}/class/net/${name}/device/driver`)),
    )
    return interfaces.filter((_, index) => !(drivers[index] instanceof ReadRefusal))
  },
  deviceSteps: (context, device) => interfaceSteps(context, device),
}

function programStep(): Step {
  return {
    name: 'library',
    async check() {
      const path = findProgram('dcb')
      return path === undefined ? broken('dcb', 'the program is not installed', INSTALL) : fine(path, 'it is there')
    },
  }
}
