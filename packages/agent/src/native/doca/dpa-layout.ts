// Layouts and numbers of `doca_telemetry_dpa`. Unit of offsets and sizes: bytes. A test compares them with those that a
// C compiler computed.

/** `doca_telemetry_dpa_process_info`. */
export const DPA_PROCESS = { bytes: 28, id: 0, threads: 4, name: 8 } as const

/** `doca_telemetry_dpa_thread_info`. */
export const DPA_THREAD = { bytes: 28, process: 0, id: 4, name: 8 } as const

/** `doca_telemetry_dpa_cumul_info`. */
export const DPA_CUMULATIVE = {
  bytes: 40,
  process: 0,
  thread: 4,
  ticks: 8,
  cycles: 16,
  instructions: 24,
  executions: 32,
} as const

/** Size of the names of processes and threads, with their NUL. */
export const DPA_NAME_BYTES = 17

/** `doca_telemetry_dpa_counter_state`. */
export const DPA_COUNTER_STATE = { ACTIVE: 1, INACTIVE: 2, RESET: 3 } as const

/** `doca_telemetry_dpa_counter_type`. */
export const DPA_COUNTER_TYPE = { CUMULATIVE_EVENT: 0, EVENT_TRACER: 1 } as const
