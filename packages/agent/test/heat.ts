import { defineType, gauge, label, timestamp } from '@sonde/sdk'

/** What clients of a test report. */
export const heatType = defineType('heat', 'What a client reports', {
  time: timestamp(),
  place: label(),
  celsius: gauge('f64'),
})
