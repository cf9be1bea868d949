import type { GpuModel, NicModel } from './node-class.ts'

export const H100: GpuModel = {
  name: 'NVIDIA H100 80GB HBM3',
  productId: '2330',
  powerLimitWatts: 700,
  powerLimitMinWatts: 200,
  idleWatts: 70,
  contextWatts: 124,
  memoryMiB: 81_559,
  reservedMiB: 551,
  smCount: 132,
  smClockMHz: 1980,
  memoryClockMHz: 2619,
  nvlinkLinks: 18,
  nvlinkBytesPerS: 450e9,
  pcieGeneration: 5,
  hasMemoryTemperature: true,
  hasMig: true,
}

export const H200: GpuModel = {
  ...H100,
  name: 'NVIDIA H200',
  productId: '2335',
  idleWatts: 75,
  contextWatts: 122,
  memoryMiB: 143_771,
  reservedMiB: 617,
  memoryClockMHz: 3201,
}

export const B200: GpuModel = {
  ...H100,
  name: 'NVIDIA B200',
  productId: '2901',
  powerLimitWatts: 1000,
  idleWatts: 140,
  contextWatts: 191,
  memoryMiB: 183_359,
  reservedMiB: 722,
  smCount: 148,
  smClockMHz: 1965,
  memoryClockMHz: 3996,
  nvlinkBytesPerS: 900e9,
}

export const H100_PCIE: GpuModel = {
  ...H100,
  name: 'NVIDIA H100 PCIe',
  productId: '2331',
  powerLimitWatts: 350,
  idleWatts: 48,
  contextWatts: 82,
  smCount: 114,
  smClockMHz: 1755,
  memoryClockMHz: 1593,
  nvlinkLinks: 0,
  nvlinkBytesPerS: 0,
}

export const L40S: GpuModel = {
  ...H100,
  name: 'NVIDIA L40S',
  productId: '26b9',
  powerLimitWatts: 350,
  powerLimitMinWatts: 100,
  idleWatts: 36,
  contextWatts: 88,
  memoryMiB: 46_068,
  reservedMiB: 489,
  smCount: 142,
  smClockMHz: 2520,
  memoryClockMHz: 9001,
  nvlinkLinks: 0,
  nvlinkBytesPerS: 0,
  pcieGeneration: 4,
  hasMemoryTemperature: false,
  hasMig: false,
}

export const CONNECTX_7: NicModel = {
  name: 'MT4129',
  productId: '1021',
  board: 'MT_0000000838',
  firmware: '28.43.2566',
  speedBytesPerS: 50e9,
  lanes: 4,
  rawBitsPerS: 425e9,
  signalling: 'NDR',
  pcieGeneration: 5,
  hasDpa: false,
}

/** One port, or two bonded ports that form one RDMA device. */
export const BLUEFIELD_3: NicModel = {
  name: 'MT41692',
  productId: 'a2dc',
  board: 'MT_0000000884',
  firmware: '32.43.2566',
  speedBytesPerS: 25e9,
  lanes: 2,
  rawBitsPerS: 212.5e9,
  signalling: 'NDR',
  pcieGeneration: 5,
  hasDpa: true,
}

export const CONNECTX_6: NicModel = {
  name: 'MT4123',
  productId: '101b',
  board: 'MT_0000000222',
  firmware: '20.43.2566',
  speedBytesPerS: 12.5e9,
  lanes: 4,
  rawBitsPerS: 103.125e9,
  signalling: 'EDR',
  pcieGeneration: 4,
  hasDpa: false,
}
