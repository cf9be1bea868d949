import { onDevice, RETRY_S, type Scenario } from './scenario.ts'

const DOWN_S = 4

/** 4.5, second form: a link that comes back with a lower speed. */
export const linkDowntrain: Scenario = {
  name: 'link-downtrain',
  summary:
    'The link of one NIC goes down once and comes back at a lower rate; its rail takes longer, and all wait for it',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of its rate left', min: 0.25, max: 0.5, default: 0.5 },
  durationS: 180,
  fits: () => true,
  effects: (strike) => {
    const { onsetS, endS, severity } = strike
    const upS = onsetS + DOWN_S
    // Each generation of signalling has half the rate of the next.
    const speedShare = severity < 0.5 ? 0.25 : 0.5
    return {
      spans: [
        onDevice(strike, onsetS, upS, { link: 'down' }),
        { fromS: upS, toS: onsetS + RETRY_S, job: { state: 'stuck' } },
        onDevice(strike, upS, endS, { speedShare }),
      ],
    }
  },
}
