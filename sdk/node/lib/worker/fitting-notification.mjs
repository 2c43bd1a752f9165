// Notifications that fit into a frame. Other data is written in readable form.

import { inspect } from 'node:util'
import { shortNotification } from '../short-notification.mjs'
import { misfit } from './frame-limits.mjs'

/** A notification as JSON of at most `most` bytes, which `write` makes from its params. */
export function fittingNotification(method, params, most, write) {
  const whole = shortNotification(method, params, most, write)
  if (misfit(whole) === undefined) return whole
  return shortNotification(method, { ...params, data: inspect(params.data) }, most, write)
}
