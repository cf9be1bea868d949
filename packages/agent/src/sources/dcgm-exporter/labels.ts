import type { Labels } from '@sonde/sdk'
import { labelOf } from '@sonde/sdk/internal'
import { firstOf } from '../pods/labels.ts'

/** The labels of a GPU in records of metrics with names of DCGM. */
export interface GpuLabels extends Record<string, string> {
  readonly gpu: string
  readonly UUID: string
  readonly device: string
  readonly modelName: string
  readonly Hostname: string
  readonly pci_bus_id: string
}

/** Texts about the board. Exporters write them as labels of every series. */
export interface BoardTexts {
  readonly serial: string
  readonly driver: string
  readonly vbios: string
}

/**
 * Returns the labels of the GPU that a series describes, by any of their names; undefined if it describes none.
 *
 * @param host Name of the node, for exporters without a label for it.
 */
export function gpuLabelsOf(labels: Labels, host: string): GpuLabels | undefined {
  const UUID = firstOf(labels, ['UUID', 'uuid', 'gpu_uuid'])
  if (UUID === '') return undefined
  return {
    gpu: labelOf(labels, 'gpu'),
    UUID,
    device: labelOf(labels, 'device'),
    modelName: firstOf(labels, ['modelName', 'model_name']),
    Hostname: firstOf(labels, ['Hostname', 'hostname']) || host,
    pci_bus_id: labelOf(labels, 'pci_bus_id'),
  }
}

/** Id and profile of the MIG instance that a series describes; undefined if it describes the whole GPU. */
export function instanceOf(labels: Labels): { readonly id: number; readonly profile: string } | undefined {
  const text = labelOf(labels, 'GPU_I_ID')
  if (!/^\d{1,3}$/.test(text) || Number(text) > 255) return undefined
  return { id: Number(text), profile: labelOf(labels, 'GPU_I_PROFILE') }
}

/** Texts about the board from label-type counters. */
export function boardTextsOf(labels: Labels): BoardTexts {
  return {
    serial: firstOf(labels, ['DCGM_FI_DEV_SERIAL', 'DCGM_FI_DEV_BOARD_SERIAL']),
    driver: firstOf(labels, ['DCGM_FI_DRIVER_VERSION', 'DCGM_FI_SYSTEM_DRIVER_VERSION']),
    vbios: firstOf(labels, ['DCGM_FI_DEV_VBIOS_VERSION']),
  }
}
