import { countOf } from '@sonde/sdk/internal'
import { broken, type ChainDevice, fine, type SourceExplain, type Step } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { interfaceDevices, interfaceSteps } from '../chains/network-interface.ts'
import { fileStep } from '../chains/steps.ts'
import { VIRTUAL_BUSES } from '../ethtool/interfaces.ts'
import { findProgram } from '../find-program.ts'

const INSTALL = 'install iproute2; where it is elsewhere, give its path as the option dcb of the source dcb'

/** Chains behind the values of `dcb`: the program, then each interface with a device below. */
export const dcbExplain: SourceExplain = {
  steps: (context) => {
    const folder = `${context.sysfs}/class/net`
    return [
      programStep(),
      fileStep(context, folder, `mount -t sysfs sysfs ${context.sysfs}: it lists interfaces`),
      adapterStep(context, folder),
    ]
  },
  devices: adapters,
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

/** Interfaces with a driver, and not on a bus of software: others have no port to ask about. */
async function adapters(context: ChainContext): Promise<ChainDevice[]> {
  const interfaces = await interfaceDevices(context)
  const isAdapter = await Promise.all(
    interfaces.map(async ({ name }) => {
      const device = `${context.sysfs}/class/net/${name}/device`
      const [driver, bus] = await Promise.all([
        context.target(`${device}/driver`),
        context.target(`${device}/subsystem`),
      ])
      return !(driver instanceof ReadRefusal) && (bus instanceof ReadRefusal || !VIRTUAL_BUSES.has(bus))
    }),
  )
  return interfaces.filter((_, index) => isAdapter[index])
}

function adapterStep(context: ChainContext, folder: string): Step {
  return {
    name: 'adapter',
    async check() {
      const { length } = await adapters(context)
      if (length > 0) return fine(folder, countOf(length, 'network adapter'))
      const fix = 'none on a machine without such an adapter; else look whether its driver is loaded: lspci -k'
      return broken(folder, 'no network adapter; virtual interfaces are left out', fix)
    },
  }
}
