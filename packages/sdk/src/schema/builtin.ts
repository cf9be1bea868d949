import { counter, gauge, label, optional, text, timestamp, value } from './field.ts'
import { defineOwnType } from './record-type.ts'

/**
 * A clock of a device compared with the clocks of its host. It is read between two readings of the host's monotonic
 * clock: the offset refers to the middle, and the error is half of the distance. A device may have several clocks: a
 * real-time clock, a free-running counter, the timer of its processor.
 */
export const clockType = defineOwnType('sonde_clock', 'A device clock against the clocks of its host', {
  time: timestamp(),
  device: label('Device whose clock was read'),
  clock: label('Which of its clocks'),
  device_ticks: value('u64', { help: 'Reading of the device clock' }),
  ticks_per_second: value('f64', { help: 'Frequency of the device clock' }),
  before_ns: value('u64', { help: 'Monotonic clock of the host before the reading' }),
  after_ns: value('u64', { help: 'Monotonic clock of the host after the reading' }),
  offset_ns: value('i64', { help: 'Wall clock of the host less the device clock, at the middle' }),
  error_ns: value('u64', { help: 'Half the time between the two readings of the host clock' }),
})

/** A stretch of time without samples, as the source reports it. */
export const gapType = defineOwnType('sonde_gap', 'A stretch without samples', {
  time: timestamp(),
  type: label('Type whose records are missing'),
  series: text({ help: 'Labels of the series, empty for all of the source' }),
  from_ns: value('u64', { help: 'First nanosecond that is missing' }),
  to_ns: value('u64', { help: 'First nanosecond that is there again' }),
  records: value('u64', { help: 'Records missing, 0 where it is not known' }),
  reason: text({ help: 'Why they are missing' }),
})

/**
 * The periods of the records of a type from a device. Reported when they are set or change, and every minute, so that
 * every window of time contains them.
 */
export const periodType = defineOwnType('sonde_period', 'How often a device is sampled, drained and reported', {
  time: timestamp(),
  type: label('Type of the records, empty for all of the source'),
  device: label('Device that they are about, empty for all'),
  sample_us: optional(value('u64', { help: 'Between two samples of the device; absent where it takes none itself' })),
  drain_us: optional(value('u64', { help: 'Between two readings of its samples; absent where it keeps none' })),
  report_us: value('u64', { help: 'Between two records' }),
})

/**
 * A moment in the life of an event. The id is a number and no label, because there is no limit of events. `peak` has
 * the time of the worst value and is reported at the end; `dismissed` ends an event that was never confirmed.
 */
export const markType = defineOwnType('sonde_mark', 'A moment in the life of an event', {
  time: timestamp(),
  rule: label('Rule that opened it'),
  device: label('Device that it is about'),
  event: value('u64', { help: 'Number of the event, of no other of its source' }),
  edge: text({ help: 'opened, confirmed, peak, ended or dismissed' }),
  severity: text({ help: 'critical, warning or notice' }),
  value: optional(value('f64', { help: 'What the rule measured' })),
  limit: optional(value('f64', { help: 'Limit that it passed' })),
  unit: text({ help: 'Unit of both' }),
  summary: text({ help: 'A short description' }),
})

/** An event that a traceback rule opened; the first record of its file. The time is that of its start. */
export const eventType = defineOwnType('sonde_event', 'An event that a rule of traceback opened', {
  time: timestamp(),
  rule: label('Rule that opened it'),
  device: label('Device that it is about, or the series of an application'),
  event: value('u64', { help: 'Number of the event' }),
  ended: optional(value('u64', { help: 'When it ended, nanoseconds since the Unix epoch; absent while it is open' })),
  why: text({ help: 'Why it ended: cleared, lost, cut, stopped, host_replaced or truncated; empty while it is open' }),
  condition: text({ help: 'What the rule says' }),
  signal: text({ help: 'Type and field that the rule watches; empty for a combination' }),
  reporter: text({ help: 'Application or source that reports the signal' }),
  error_ns: value('u64', { help: 'How far off both times are at most' }),
  continues: optional(value('u64', { help: 'The event before it, which was cut' })),
})

/** Dropped records, with the component and the reason. */
export const lossType = defineOwnType('sonde_loss', 'Records dropped, by component and reason', {
  time: timestamp(),
  component: label('Who dropped them'),
  reason: label('Why'),
  records_total: counter('u64', { help: 'Records dropped' }),
})

/**
 * A log record of an application. Log records have no labels and no metrics: files and destinations keep them, views of
 * series have nothing of them.
 */
export const logType = defineOwnType('sonde_log', 'A log record of an application', {
  time: timestamp(),
  severity: value('u8', { help: 'Severity as OpenTelemetry counts it, 1 to 24; 9 is info' }),
  level: text({ help: 'The name of the severity' }),
  body: text({ help: 'What is reported' }),
  attributes: text({ help: 'Attributes as a JSON object; empty without any' }),
  dropped_attributes: value('u32', { help: 'Attributes that were beyond the limits' }),
  trace_id: text({ help: 'Id of the trace, 32 hex digits; empty outside a trace' }),
  span_id: text({ help: 'Id of the span, 16 hex digits; empty outside a span' }),
})

/** Why a destination refused the records that follow in a file of dead letters. */
export const deadLetterType = defineOwnType('sonde_dead_letter', 'Why a destination refused the records that follow', {
  time: timestamp(),
  destination: text({ help: 'Name of the destination' }),
  cause: text({ help: '`rejected` by the far end, or `encode_failed`' }),
  reason: text({ help: 'Words of the far end or the encoder' }),
  records: value('u64', { help: 'Refused records that follow' }),
})

/**
 * The state of an absent value. `series` is the text of {@link seriesKey}; empty means every series of the type. An
 * empty `field` means the whole series. The code `gone` removes the series from every view; with an empty `series`, all
 * series that the source reported in this life of its host or earlier. An empty code means that the value is present
 * again.
 */
export const absenceType = defineOwnType('sonde_absence', 'Why a value is absent', {
  time: timestamp(),
  type: label('Type of the record'),
  series: label('Labels of the series'),
  field: label('Field, empty for all'),
  code: text({ help: 'gone, unsupported, denied, failed, not_sampled' }),
  reason: text({ help: 'A sentence for people' }),
})

/** State of the sources; one row a source. */
export const sourceHealthType = defineOwnType('sonde_source', 'How a source fares', {
  time: timestamp(),
  source: label('Name of the source'),
  up: gauge('u64', { help: '1 while the source reads' }),
  records_total: counter('u64', { help: 'Records it reported' }),
  samples_total: counter('u64', { help: 'Samples taken' }),
  errors_total: counter('u64', { help: 'Reads of present hardware that failed' }),
  overruns_total: counter('u64', { help: 'Samples skipped because the one before was not done' }),
  restarts_total: counter('u64', { help: 'Times its process was replaced' }),
  records_dropped_total: counter('u64', { help: 'Records dropped before they reached a sink' }),
  sample_seconds_total: counter('f64', { unit: 'seconds', help: 'Time spent sampling' }),
})

/** State of the sinks; one row a sink. */
export const sinkHealthType = defineOwnType('sonde_sink', 'How a sink fares', {
  time: timestamp(),
  sink: label('Name of the sink'),
  up: optional(
    gauge('u64', { help: '1 while what it does goes well, 0 while it fails; absent where it does not say' }),
  ),
  fallback: optional(
    gauge('u64', {
      help: '1 while the far end gets an older version of the protocol than configured; absent if there is only one',
    }),
  ),
  records_in_total: counter('u64', { help: 'Records it was given' }),
  records_out_total: counter('u64', { help: 'Records it passed on or made visible' }),
  records_dropped_total: counter('u64', { help: 'Records it dropped' }),
  records_thinned_total: optional(
    counter('u64', {
      help: 'Records let go because a later one of the interval follows; absent if it gets every record',
    }),
  ),
  duplicates_total: counter('u64', { help: 'Records of pages that it had already; a part of out' }),
  errors_total: counter('u64', { help: 'Times it failed' }),
  accept_seconds_total: counter('f64', { unit: 'seconds', help: 'Time spent taking records' }),
  queued_records: optional(gauge('u64', { help: 'Records that have not arrived; absent where it does not say' })),
  queued_bytes: optional(gauge('u64', { unit: 'bytes', help: 'Size of these records' })),
  queue_limit_bytes: optional(gauge('u64', { unit: 'bytes', help: 'Limit of this size' })),
  lag_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Age of the oldest of these records; 0 without any' })),
})

/** State of the store. */
export const storeHealthType = defineOwnType('sonde_store', 'How the store of history fares', {
  time: timestamp(),
  up: gauge('u64', { help: '1 while it writes, 0 while it fails' }),
  size_bytes: gauge('u64', { unit: 'bytes', help: 'Size on disk' }),
  queued_bytes: gauge('u64', { unit: 'bytes', help: 'Records that wait for the disk' }),
  backlog_bytes: gauge('u64', { unit: 'bytes', help: 'Records on disk that are not yet compacted' }),
  acked_lag_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Age of the newest sample that is safe on disk' })),
  errors_total: counter('u64', { help: 'Writes and reads of the file that failed' }),
  corrupt_chunks_total: counter('u64', { help: 'Stored pieces that could not be read' }),
})
