import type { Checks } from '../check.ts'
import type { SmiField } from './compare.ts'

const HERTZ_PER_MEGAHERTZ = 1_000_000
/** `nvidia-smi` rounds watts to two digits. */
const WATTS = 0.01
/** Two readings of a sensor within a second. */
const [SENSOR_WATTS, SENSOR_CELSIUS, SENSOR_MEGAHERTZ, SENSOR_PERCENT, SENSOR_MEBIBYTES] = [25, 2, 150, 30, 64]
const megahertz = (hertz: number) => hertz / HERTZ_PER_MEGAHERTZ
const enabled = (text: string) => (text === 'Enabled' ? 1 : text === 'Disabled' ? 0 : Number.NaN)
const hexadecimal = (text: string) => Number.parseInt(text, 16)
const ecc = (kind: string, life: string): SmiField => ({ smi: `ecc.errors.${kind}.${life}.total` })

/** Fields of `nvml_gpu` and `nvml_gpu_info` that `nvidia-smi` prints too. */
export const SMI_FIELDS: Readonly<Record<string, SmiField>> = {
  model: { smi: 'name' },
  driver: { smi: 'driver_version' },
  vbios: { smi: 'vbios_version' },
  gpu_util: { smi: 'utilization.gpu', tolerance: SENSOR_PERCENT },
  mem_copy_util: { smi: 'utilization.memory', tolerance: SENSOR_PERCENT },
  enc_util: { smi: 'utilization.encoder', tolerance: SENSOR_PERCENT },
  dec_util: { smi: 'utilization.decoder', tolerance: SENSOR_PERCENT },
  gpu_temp: { smi: 'temperature.gpu', tolerance: SENSOR_CELSIUS },
  memory_temp: { smi: 'temperature.memory', tolerance: SENSOR_CELSIUS },
  power_usage: { smi: 'power.draw.average', tolerance: SENSOR_WATTS },
  power_usage_instant: { smi: 'power.draw.instant', tolerance: SENSOR_WATTS },
  enforced_power_limit: { smi: 'enforced.power.limit', tolerance: WATTS },
  power_mgmt_limit: { smi: 'power.limit', tolerance: WATTS },
  power_limit_default_watts: { smi: 'power.default_limit', tolerance: WATTS },
  power_limit_min_watts: { smi: 'power.min_limit', tolerance: WATTS },
  power_limit_max_watts: { smi: 'power.max_limit', tolerance: WATTS },
  sm_clock: { smi: 'clocks.sm', tolerance: SENSOR_MEGAHERTZ },
  mem_clock: { smi: 'clocks.mem', tolerance: SENSOR_MEGAHERTZ },
  sm_clock_max_hertz: { smi: 'clocks.max.sm', convert: megahertz },
  memory_clock_max_hertz: { smi: 'clocks.max.memory', convert: megahertz },
  pstate: { smi: 'pstate', parse: (text) => Number(text.replace(/^P/, '')) },
  clocks_event_reasons: { smi: 'clocks_event_reasons.active', parse: hexadecimal },
  fb_total: { smi: 'memory.total' },
  fb_reserved: { smi: 'memory.reserved', tolerance: 1 },
  fb_used: { smi: 'memory.used', tolerance: SENSOR_MEBIBYTES },
  fb_free: { smi: 'memory.free', tolerance: SENSOR_MEBIBYTES },
  pcie_link_gen: { smi: 'pcie.link.gen.current' },
  pcie_link_width: { smi: 'pcie.link.width.current' },
  pcie_generation_max: { smi: 'pcie.link.gen.max' },
  pcie_width_max_lanes: { smi: 'pcie.link.width.max' },
  mig_mode: { smi: 'mig.mode.current', parse: enabled },
  ecc_sbe_vol_total: ecc('corrected', 'volatile'),
  ecc_dbe_vol_total: ecc('uncorrected', 'volatile'),
  ecc_sbe_agg_total: ecc('corrected', 'aggregate'),
  ecc_dbe_agg_total: ecc('uncorrected', 'aggregate'),
}

/** All checks of `--self-test nvml` that compare, and what each asks. */
export const NVML_CHECKS: Checks = Object.fromEntries(
  Object.entries(SMI_FIELDS).map(([field, { smi }]) => [`nvml.${field}`, `The value is that of nvidia-smi ${smi}`]),
)
