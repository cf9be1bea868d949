import type { IncidentAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { KERNEL_QUERY, type KernelMessages, kernelMessages } from '../kernel-marks.ts'
import { useIncidentRange } from './incident-range.ts'

const QUERIES = [KERNEL_QUERY]
const NO_QUERIES: typeof QUERIES = []

/**
 * Messages of the kernel about the hardware of an incident in its window. The list stays identical while the messages
 * do, so that charts are not redrawn. The kernel says nothing about simulated hardware.
 */
export function useKernelEvidence(answer: IncidentAnswer, devices: readonly DeviceInfo[]): readonly KernelMessages[] {
  const { incident } = answer
  const { range, stepMs } = useIncidentRange(answer)
  const columns = useKnownColumns(incident.isSimulated ? NO_QUERIES : QUERIES, range, stepMs)
  const ids = new Set([incident.device, ...incident.affected])
  const struck = devices.filter(({ id, simulated }) => ids.has(id) && !simulated)
  // An incident of the host is about all its hardware.
  const addresses = struck.some(({ kind }) => kind === 'host')
    ? undefined
    : new Set(struck.map(({ address }) => address).filter(Boolean))
  const told = JSON.stringify(incident.isSimulated ? [] : kernelMessages(columns, addresses))
  return useMemo(() => JSON.parse(told) as readonly KernelMessages[], [told])
}
