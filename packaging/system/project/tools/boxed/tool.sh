#!/bin/bash
cat /etc/mcp-bash/default.env >/dev/null 2>&1 && echo 'seen' || echo 'hidden'
(exec 3<>/dev/udp/192.0.2.1/9) 2>/dev/null && echo 'network' || echo 'no network'
