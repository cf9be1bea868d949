import type { ListedType } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { claimsOf } from '../../api/metric-claims.ts'
import { useNode, useTypes } from '../../api/resources.ts'
import { hasHostTypes } from './host-rows.ts'

const NO_TYPES: readonly ListedType[] = []

/** The host as a device, so that panels of devices can show it. The list of devices has no host. */
export function useHost(): DeviceInfo {
  const types = useTypes().data?.types ?? NO_TYPES
  const name = useNode().data?.node ?? ''
  return useMemo(
    () => ({
      ...{ id: 'host', kind: 'host', name, rail: null, state: 'present', simulated: false, host: name },
      ...{ labels: {}, series: {}, key: [], type: 'host_machine', source: 'host', relations: [], netdevs: [] },
      ...{ model: '', share: null, driver: '', address: '', numaNode: null, socket: null, path: [], switch: null },
      ...{ pairs: [], limits: {}, claims: claimsOf(types) },
    }),
    [name, types],
  )
}

/** Whether nothing reads the machine; false before its types are known. */
export function useIsUnread(): boolean {
  const types = useTypes().data?.types
  return types !== undefined && !hasHostTypes(types)
}
